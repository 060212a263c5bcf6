import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { messageCreated } from '#shared/models/event.ts'
import type { EventRow, LogRow } from '#shared/models/tables.ts'
import { createChatUser } from '../../support/chat-client.ts'
import type { Platform } from '../../support/platform.ts'
import { replies } from '../../support/outcomes.ts'
import { again, moduleOf, type Hostile } from './hostile.ts'
import { openFixture, wallMilliseconds, type Fixture } from './fixture.ts'
import { until } from './until.ts'

/** Of code whose thread cannot be stopped: only the end of its time has its process killed. */
const stuckMilliseconds = 10_000

/** A stuck thread is gone this long after the limit of its time; the rest is for a busy machine. */
const goneMilliseconds = 3000 + 10_000

/** Upper bound of the time of a neighbour's reply while its process lives: seconds on a busy machine, and less than ideas may take. */
const slowMilliseconds = 30_000

const maxUploads = 3

/** Of one idea, whose waits have limits of their own. */
const patience = { timeout: 180_000 }

const root = join(import.meta.dirname, '..', '..', '..')

/** Knowledge of the host: its paths, and names of objects outside the isolates. */
const hostWords = [root, process.execPath, 'node:internal', 'file://', 'isolated-vm', 'isolated_vm']

/**
 * Runs every idea of a folder, each beside a neighbour: those that cost nobody else anything first, a few at once.
 *
 * @param limits of their bots; those of the scene unless given
 */
export async function runIdeas(category: string, limits: Record<string, number> = {}): Promise<void> {
  const ideas = await readIdeas(join(import.meta.dirname, category), limits)
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
    return () => fixture[Symbol.asyncDispose]()
  })

  const costsItsEvent = ideas.filter(([, { kills }]) => !kills)
  describe('costs only its own event', () => {
    // A copy, because vitest writes into the options that these are concurrent.
    test.concurrent.for(costsItsEvent)('%s', { ...patience }, async ([, idea]) => {
      await expect(runIdea(fixture, idea)).resolves.toBeUndefined()
    })
  })

  test('the neighbour was never interrupted by these', async () => {
    expect(await fixture.interruptions()).toBe(0)
  })

  test('the neighbour never waited for long', async () => {
    expect(await fixture.slowestAnswer()).toBeLessThan(slowMilliseconds)
  })

  test('no connection of these is left', async () => {
    await expect(until('the connections to close', fixture.servers.open, (open) => open === 0)).resolves.toBe(0)
  })

  test('nothing of the neighbour was touched', async () => {
    await expect(fixture.neighbourIsUntouched()).resolves.toBeUndefined()
  })

  const costsItsProcess = ideas.filter(([, { kills }]) => kills)
  describe.runIf(costsItsProcess.length > 0)('costs its sandbox process as well, and the neighbour a moment', () => {
    test.for(costsItsProcess)('%s', patience, async ([, idea]) => {
      await expect(runIdea(fixture, idea)).resolves.toBeUndefined()
    })
  })
}

async function readIdeas(folder: string, limits: Record<string, number>): Promise<[string, Hostile][]> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'))
  return Promise.all(
    files.toSorted().map(async (file) => {
      const { default: idea } = (await import(join(folder, file))) as { default: Hostile }
      const { limits: own, ...upload } = idea.upload ?? {}
      const ofStuck = idea.kills === true && { wallMilliseconds: stuckMilliseconds }
      const limited = { ...idea, upload: { ...upload, limits: { ...limits, ...ofStuck, ...own } } }
      return [basename(file, '.ts').replaceAll('-', ' '), limited] as [string, Hostile]
    }),
  )
}

async function runIdea(fixture: Fixture, idea: Hostile): Promise<void> {
  const pids = idea.kills === true ? await fixture.sandboxPids() : []
  if (idea.outcome === 'refused') await expectRefusal(fixture, idea)
  else await expectOutcome(fixture, idea)
  // Code that does not stop would run there for ever.
  await until('the sandbox process to go', fixture.sandboxPids, (left) => !pids.some((pid) => left.includes(pid)))
  await fixture.neighbourAnswers()
  fixture.workerLives()
  await fixture.memoryComesBack()
}

async function expectRefusal(fixture: Fixture, idea: Hostile): Promise<void> {
  const { status, body } = await deploy(fixture, idea)
  expect({ status, message: body.message }).toMatchObject({
    status: 400,
    message: expect.stringMatching(idea.failure ?? /./),
  })
  expectNoHostWords(body.message)
}

/** Uploads the code of an idea. On a busy machine the inspection may not end in time, and the error asks to try again. */
async function deploy({ platform }: Fixture, idea: Hostile): ReturnType<Platform['ask']> {
  for (let attempt = 1; ; attempt++) {
    const answer = await platform.ask('POST', '/v1/admin/bots', { code: moduleOf(idea), ...idea.upload })
    if (answer.status !== 504 || attempt === maxUploads) return answer
  }
}

async function expectOutcome(fixture: Fixture, idea: Hostile): Promise<void> {
  const { platform, neighbour, servers } = fixture
  const created = await deploy(fixture, idea)
  expect(created).toMatchObject({ status: 200 })
  const { bot } = created.body
  const chatUser = await createChatUser(bot.integrations.chat.webhookUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, JSON.stringify({ ...neighbour, servers: servers.ports }))
  const goesOn = idea.code === undefined && !idea.spoils
  if (goesOn) await chatUser.send(conversationId, again)

  const ended = () =>
    platform.context
      .db('events')
      .where({ bot_id: bot.id, type: messageCreated })
      .whereNotNull('ended_at')
      .orderBy(['created_at', 'id'])
  const count = goesOn ? 2 : 1
  const [event, next] = await until('the events to end', ended, ({ length }) => length === count)
  const logs = await platform.context.db('logs').where({ bot_id: bot.id }).orderBy(['created_at', 'id'])
  const said = await replies(platform, conversationId)
  expectEnd(idea, event!, logs)
  if (idea.replies) {
    expect(said).toEqual(goesOn ? [...idea.replies, ...(idea.laterReplies ?? []), again] : idea.replies)
  }
  if (goesOn) expect([next!.status, said.at(-1)]).toEqual(['processed', again])
  const written = JSON.stringify([
    event!.failure_reason,
    next?.failure_reason,
    logs.map(({ message }) => message),
    said,
  ])
  expectNoHostWords(written)
  if (idea.never) expect(written).not.toMatch(idea.never)
}

function expectEnd(
  { outcome, failure = /./, logs: expected = [], kills }: Hostile,
  event: EventRow,
  logs: LogRow[],
): void {
  const lines = logs.map(({ level, message }) => `${level}: ${message}`)
  if (outcome === 'done') {
    expect([event.status, event.failure_reason]).toEqual(['processed', null])
  } else {
    const said = outcome === 'error' ? event.failure_reason : event.failure_reason?.replace(/^\w+: /, '')
    expect(event).toMatchObject({ status: 'failed', failure_reason: expect.any(String) })
    expect(reasonOf(event.failure_reason!)).toBe(outcome)
    expect(said).toMatch(failure)
    expect(lines).toContainEqual(expect.stringContaining(event.failure_reason!))
  }
  let from = 0
  for (const line of expected) {
    const at = lines.findIndex((candidate, index) => index >= from && line.test(candidate))
    expect(at, `${line} in the log, which is ${JSON.stringify(lines)}`).not.toBe(-1)
    from = at + 1
  }
  const limit = kills === true ? stuckMilliseconds : wallMilliseconds
  expect(event.ended_at!.getTime() - event.started_at!.getTime()).toBeLessThan(limit + goneMilliseconds)
}

const limitReasons = ['timeout', 'cpu', 'memory', 'hostCalls', 'network', 'result', 'timers', 'crashed']

/** The reason that a failure begins with; without one it is an error of the bot's own. */
function reasonOf(failure: string): string {
  const word = /^(\w+): /.exec(failure)?.[1] ?? ''
  return limitReasons.includes(word) ? word : 'error'
}

function expectNoHostWords(text: string): void {
  for (const word of hostWords) expect(text).not.toContain(word)
}
