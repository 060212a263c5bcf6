import { setTimeout as pause } from 'node:timers/promises'
import { Client as Database } from 'pg'
import { send } from '../support/platform.ts'
import { carryOut, planFaults, type FaultKind } from './faults.ts'
import { openChaosPlatform, type ChaosPlatform, type PlatformOptions } from './platform.ts'
import { chancesFrom, type Chances } from './random.ts'

export interface HandoverChaosOptions extends PlatformOptions {
  seed: number
  /** Conversations at once. Each has handovers, one after the other, until the faults are over. */
  conversations: number
  faults: number
  kinds: readonly FaultKind[]
  /** Milliseconds between two faults, on average. */
  spacingMilliseconds: number
}

export interface HandoverChaosReport {
  options: HandoverChaosOptions
  faults: Map<FaultKind, number>
  seconds: number
  /** Handovers by their end, and those whose member lost the role meanwhile. */
  handovers: { resolved: number; expired: number; released: number }
  /** Times at which two agents took a handover at once, and times at which exactly one got it. */
  claims: { all: number; won: number }
  /** Messages of users, bot and agents. */
  messages: number
  differences: string[]
}

/** Says what it receives, hands the conversation over on request, and says when it has it back. */
const code = `export const hooks = {
  async afterIncomingMessage({ event, client, state }) {
    const { conversationId, preview } = event
    const say = (text) => client.createMessage({ conversationId, type: 'text', payload: { text } })
    const [word, round] = preview.split(' ')
    if (word === 'say') return say('bot ' + round)
    state.conversation.round = round
    await client.handover({ conversationId, title: round, ...(word === 'expire' && { expiresInSeconds: 2 }) })
    await say('fetching ' + round)
  },
  async beforeIncomingEvent({ event, client, state }) {
    if (event.type !== 'handover_ended') return
    const text = event.payload.status + ' ' + state.conversation.round
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
  },
}`

/** How long a request is repeated, and how long an answer of the bot may take. */
const patienceMilliseconds = 120_000
const answerMilliseconds = 10_000

/** An agent of the workspace. */
interface Agent {
  accountId: string
  headers: Record<string, string>
}

/** A conversation, its agents, and the texts that it must have. */
interface Scene {
  conversationId: string
  key: string
  agents: [Agent, Agent]
  texts: string[]
  /** Texts that the bot's code must not have seen. */
  withheld: number
}

type Report = Pick<HandoverChaosReport, 'handovers' | 'claims' | 'differences'>

/**
 * Makes users, a bot and agents write in conversations that are handed over and back during faults, and compares the
 * conversations with those of a run without any.
 *
 * @param parts receives what has to be closed afterwards
 * @param tell receives the progress, periodically
 */
export async function runHandoverChaos(
  options: HandoverChaosOptions,
  parts: AsyncDisposableStack,
  tell: (line: string) => void,
): Promise<HandoverChaosReport> {
  const platform = await openChaosPlatform(options, parts)
  const { botId, chatPath, talks } = await platform.openTalks(options.conversations, code)
  const scenes: Scene[] = []
  for (const { conversationId, key } of talks) {
    const agents: Scene['agents'] = [await createAgent(platform), await createAgent(platform)]
    scenes.push({ conversationId, key, agents, texts: [], withheld: 0 })
  }
  const report: HandoverChaosReport = {
    options,
    faults: new Map(),
    seconds: 0,
    handovers: { resolved: 0, expired: 0, released: 0 },
    claims: { all: 0, won: 0 },
    messages: 0,
    differences: [],
  }
  const begunAt = performance.now()
  const end = new AbortController()
  const requests = openRequests(platform, chancesFrom(options.seed + 1), { botId, chatPath })
  const scenesEnded = Promise.all(
    scenes.map(async (scene) => {
      for (let round = 1; !end.signal.aborted; round++) await handOver(scene, round, requests, report)
    }),
  )
  const kinds = options.kinds.filter((kind) => kind !== 'Redis restarted' || platform.redis)
  const plan = planFaults(chancesFrom(options.seed), kinds, options.faults, options.spacingMilliseconds)
  const happening = carryOut(plan, platform, {
    happened(kind) {
      report.faults.set(kind, (report.faults.get(kind) ?? 0) + 1)
      tell(`${report.claims.won} of ${report.claims.all} claims had one winner; ${kind}`)
    },
    untilProgress: () => Promise.resolve(),
  }).finally(() => end.abort())
  await Promise.all([scenesEnded, happening])
  report.seconds = (performance.now() - begunAt) / 1000
  report.messages = scenes.reduce((sum, { texts }) => sum + texts.length, 0)
  report.differences.push(...(await findDifferences(platform.databaseUrl(), scenes)))
  return report
}

async function createAgent({ apiUrls: [apiUrl], headers }: ChaosPlatform): Promise<Agent> {
  const admin = `${apiUrl}/v1/admin`
  const email = `${crypto.randomUUID()}@example.com`
  const { body: invited } = await send('POST', `${admin}/workspace-members`, { email, role: 'agent' }, headers)
  const accepted = await send('POST', `${admin}/account/invitation`, {}, { 'x-invitation': invited.invitation })
  const { id: accountId, token } = accepted.body as { id: string; token: string }
  return { accountId, headers: { ...headers, authorization: `Bearer ${token}` } }
}

/** Requests that are repeated, at any process, until they have one of the expected statuses. */
interface Requests {
  /** A message of the user. */
  say(scene: Scene, text: string): Promise<void>
  /** Waits for a message of the bot. */
  hear(scene: Scene, text: string): Promise<void>
  admin(method: string, path: string, options: AdminRequest): Promise<{ status: number; body: string }>
  readonly administrator: Record<string, string>
  readonly botPath: string
  readonly chances: Chances
}

interface AdminRequest {
  by: Record<string, string>
  body?: object
  expected: number[]
  key?: string
}

function openRequests(
  { apiUrls, headers }: ChaosPlatform,
  chances: Chances,
  { botId, chatPath }: { botId: string; chatPath: string },
): Requests {
  async function request(method: string, path: string, { by, body, expected, key }: AdminRequest) {
    const deadline = performance.now() + patienceMilliseconds
    for (;;) {
      const answer = await fetch(chances.pick(apiUrls) + path, {
        method,
        headers: {
          'content-type': 'application/json',
          ...by,
          ...(key !== undefined && { 'idempotency-key': key.replaceAll(' ', '-') }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(answerMilliseconds),
      })
        .then(async (response) => ({ status: response.status, body: await response.text() }))
        .catch(() => ({ status: 0, body: '' }))
      if (expected.includes(answer.status) && !answer.body.includes('ResourceLockedConflict')) return answer
      const isFinal = [400, 401, 403, 404].includes(answer.status)
      if (isFinal || performance.now() > deadline) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
      await pause(chances.between(0, 400))
    }
  }

  return {
    chances,
    administrator: headers,
    botPath: `/v1/admin/bots/${botId}`,
    admin: request,
    async say(scene, text) {
      const { conversationId, key } = scene
      const body = { conversationId, payload: { type: 'text', text } }
      const by = { 'x-user-key': key }
      await request('POST', `${chatPath}/messages`, { by, body, expected: [201], key: `${conversationId} ${text}` })
      scene.texts.push(text)
    },
    async hear(scene, text) {
      const deadline = performance.now() + patienceMilliseconds
      const path = `${chatPath}/conversations/${scene.conversationId}/messages`
      for (;;) {
        const { body } = await request('GET', path, { by: { 'x-user-key': scene.key }, expected: [200] })
        const { messages } = JSON.parse(body) as { messages: { payload: { text: string } }[] }
        if (messages.some(({ payload }) => payload.text === text)) break
        if (performance.now() > deadline) throw new Error(`There is no "${text}" in ${scene.conversationId}`)
        await pause(100)
      }
      scene.texts.push(text)
    },
  }
}

/** One handover: the bot begins it, agents answer or its time ends, and the bot answers again. */
async function handOver(scene: Scene, round: number, requests: Requests, report: Report): Promise<void> {
  const { chances } = requests
  await requests.say(scene, `say ${round}`)
  await requests.hear(scene, `bot ${round}`)
  const expires = chances.between(0, 1) < 0.2
  await requests.say(scene, `${expires ? 'expire' : 'help'} ${round}`)
  await requests.hear(scene, `fetching ${round}`)
  if (expires) {
    await requests.hear(scene, `expired ${round}`)
    report.handovers.expired++
    return
  }
  let member = await race(scene, requests, report)
  if (!member) return
  const other = scene.agents.find((agent) => agent !== member)!
  await answer(scene, { round, part: 1, member }, requests)
  if (chances.between(0, 1) < 0.3) {
    await setRole(member, 'viewer', requests)
    await takeOver(scene, other, requests, [200])
    await setRole(member, 'agent', requests)
    member = other
    report.handovers.released++
  }
  await answer(scene, { round, part: 2, member }, requests)
  await resolve(scene, member, requests)
  await requests.hear(scene, `resolved ${round}`)
  report.handovers.resolved++
}

/** Both agents take the conversation at once. @returns the one who got it */
async function race(scene: Scene, requests: Requests, { claims, differences }: Report): Promise<Agent | undefined> {
  const outcomes = await Promise.all(scene.agents.map((agent) => takeOver(scene, agent, requests, [200, 409])))
  const winners = scene.agents.filter((_, index) => outcomes[index] === 200)
  claims.all++
  if (winners.length === 1) claims.won++
  else differences.push(`${scene.conversationId}: ${winners.length} agents took the conversation`)
  return winners[0]
}

async function takeOver(scene: Scene, { headers: by }: Agent, requests: Requests, expected: number[]) {
  const path = `${requests.botPath}/conversations/${scene.conversationId}/handover`
  return (await requests.admin('POST', path, { by, body: {}, expected })).status
}

async function setRole({ accountId }: Agent, role: string, requests: Requests): Promise<void> {
  const by = requests.administrator
  await requests.admin('PUT', `/v1/admin/workspace-members/${accountId}`, { by, body: { role }, expected: [200] })
}

/** The user and the member write in turn, the user two texts and the member one. */
async function answer(
  scene: Scene,
  { round, part, member }: { round: number; part: number; member: Agent },
  requests: Requests,
): Promise<void> {
  for (const turn of ['first', 'second']) {
    await requests.say(scene, `say ${round}.${part} ${turn}`)
    scene.withheld++
  }
  const text = `member ${round}.${part}`
  await requests.admin('POST', `${requests.botPath}/conversations/${scene.conversationId}/messages`, {
    by: member.headers,
    body: { type: 'text', payload: { text } },
    expected: [201],
    key: `${scene.conversationId} ${text}`,
  })
  scene.texts.push(text)
}

/** Hands the conversation back. A repeated request finds that the handover has ended. */
async function resolve(scene: Scene, { headers: by }: Agent, requests: Requests): Promise<void> {
  const { body } = await requests.admin('GET', `${requests.botPath}/handovers?status=open&pageSize=100`, {
    by,
    expected: [200],
  })
  const { handovers } = JSON.parse(body) as { handovers: { id: string; conversationId: string }[] }
  const open = handovers.find(({ conversationId }) => conversationId === scene.conversationId)
  if (!open) throw new Error(`The handover of ${scene.conversationId} is not listed`)
  const path = `${requests.botPath}/handovers/${open.id}/resolve`
  await requests.admin('POST', path, { by, body: {}, expected: [200, 409] })
}

/** Compares the database with the texts that were acknowledged, in their order, and with the ends of their events. */
async function findDifferences(databaseUrl: string, scenes: Scene[]): Promise<string[]> {
  const database = new Database({ connectionString: databaseUrl })
  await database.connect()
  try {
    const differences: string[] = []
    for (const { conversationId, texts, withheld } of scenes) {
      const { rows } = await database.query<{ text: string; is_members: boolean }>(
        `select payload ->> 'text' as text, member_messages.message_id is not null as is_members
         from messages left join member_messages on message_id = messages.id
         where conversation_id = $1 order by messages.created_at, messages.id`,
        [conversationId],
      )
      const found = rows.map(({ text }) => text)
      const at = [...texts, ...found].findIndex((_, index) => texts[index] !== found[index])
      if (found.length !== texts.length || found.join() !== texts.join()) {
        const [expected, actual] = [texts, found].map((all) => all.slice(Math.max(0, at - 2), at + 3).join(', '))
        differences.push(`${conversationId}: [${actual}] instead of [${expected}]`)
      }
      const others = rows.filter(({ text, is_members: isMembers }) => isMembers !== text.startsWith('member '))
      if (others.length > 0) differences.push(`${conversationId}: ${others.length} messages have another author`)
      const events = await database.query<{ status: string; count: number }>(
        `select status, count(*)::integer as count from events
         where mailbox = $1 and status not in ('processed', 'ignored') or mailbox = $1 and handover_id is not null
         group by status order by status`,
        [conversationId],
      )
      const statuses = events.rows.map(({ status, count }) => `${status} ${count}`).join(', ')
      const expected = withheld === 0 ? '' : `ignored ${withheld}`
      if (statuses !== expected) differences.push(`${conversationId}: events are ${statuses}, not ${expected}`)
    }
    return differences
  } finally {
    await database.end()
  }
}

/** Describes the counts of a run, in lines. */
export function describeHandover(report: HandoverChaosReport): string {
  const { options, faults, seconds, handovers, claims, messages, differences } = report
  const kinds = [...faults].map(([kind, count]) => `${kind} ${count}`)
  return [
    `Chaos on ${options.backEnd}, seed ${options.seed}: ${differences.length === 0 ? 'no difference' : 'DIFFERENCES'}`,
    `  ${messages} messages of users, bot and agents in ${options.conversations} conversations, each once and in order`,
    `  handovers: resolved ${handovers.resolved}, expired ${handovers.expired}; in ${handovers.released} the member lost ` +
      `the role; ${claims.won} of ${claims.all} that two agents took at once had one winner`,
    `  faults in ${seconds.toFixed(0)} s: ${kinds.join(', ')}`,
    ...differences.map((difference) => `    ${difference}`),
  ].join('\n')
}
