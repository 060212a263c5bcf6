import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { installCode, logOf } from '../../support/install-code.ts'
import { createMember } from '../../support/members.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({
    environment: {
      SANDBOX_CPU_MS: '4000',
      SANDBOX_MAX_CPU_MS: '5000',
      SANDBOX_HOST_CALLS: '3',
      SANDBOX_MAX_HOST_CALLS: '6',
      SANDBOX_LOG_LINES: '5',
    },
  })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Takes some hundred milliseconds of processor time, also where others take most of what passes on the wall. */
const work = 'for (let turn = 0; turn < 4e7; turn += 1);'

/** A bot that does this when it hears something. */
const hook = (body: string) => `
  let events = 0
  export const hooks = { async afterIncomingMessage({ event, client, logger, env }) { events += 1; ${body} } }`

async function createBot(code: string, fields: object = {}): Promise<{ id: string; chatUrl: string }> {
  const { body, status } = await platform.ask('POST', '/v1/admin/bots', { code, ...fields })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { id: body.bot.id, chatUrl: body.bot.integrations.chat.webhookUrl }
}

const updateBot = (id: string, fields: object) => platform.ask('PUT', `/v1/admin/bots/${id}`, fields)

/** Says something to a bot; gives the event of that, once it has ended. */
async function wake({ id, chatUrl }: { id: string; chatUrl: string }) {
  const before = await platform.context.db('events').where({ bot_id: id }).pluck('id')
  const chatUser = await createChatUser(chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'go')
  const events = await endedEvents(platform, id, before.length + 1)
  return events.find((event) => !before.includes(event.id))!
}

describe('limits of a bot’s own', () => {
  test('are set with it, shown with it, replaced whole and removed', async () => {
    const limits = { cpuMilliseconds: 5000, hostCalls: 6 }
    const { id } = await createBot(hook(''), { limits })
    const shown = async () => (await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.limits
    expect(await shown()).toEqual(limits)
    await updateBot(id, { name: 'the same limits' })
    expect(await shown()).toEqual(limits)
    expect((await updateBot(id, { limits: { timers: 3 } })).body.bot.limits).toEqual({ timers: 3 })
    await updateBot(id, { limits: {} })
    expect(await shown()).toEqual({})
    expect((await platform.ask('POST', '/v1/admin/bots', {})).body.bot.limits).toEqual({})
  })

  test.each([
    [
      { cpuMilliseconds: 5001 },
      'limits.cpuMilliseconds may be at most 5000, which the operator sets with SANDBOX_MAX_CPU_MS',
    ],
    [{ cpuMilliseconds: 60_000, hostCalls: 7 }, 'SANDBOX_MAX_CPU_MS; limits.hostCalls may be at most 6'],
    [{ memoryMegabytes: 129 }, 'limits.memoryMegabytes must be <= 128'],
    [{ memoryMegabytes: 1 }, 'limits.memoryMegabytes must be >= 8'],
    [{ wallMilliseconds: 'long' }, 'limits.wallMilliseconds must be integer'],
    [{ timers: 1.5 }, 'limits.timers must be integer'],
    [{ fetchMegabytes: 11 }, 'limits.fetchMegabytes must be <= 10'],
  ])('are refused where they are %j, and nothing changes', async (limits, words) => {
    const { id } = await createBot(hook(''), { limits: { timers: 3 } })
    for (const answer of [
      await updateBot(id, { limits, name: 'changed' }),
      await platform.ask('POST', '/v1/admin/bots', { limits }),
    ]) {
      expect(answer).toMatchObject({
        status: 400,
        body: { type: 'InvalidPayload', message: expect.stringContaining(words) },
      })
    }
    const { body } = await platform.ask('GET', `/v1/admin/bots/${id}`)
    expect(body.bot.limits).toEqual({ timers: 3 })
    expect(body.bot.name).not.toBe('changed')
  })

  test('are for members of the workspace to set, and not for the bot or a program of its', async () => {
    const { id } = await createBot(hook(`logger.info(typeof client.updateBot)`))
    const { body } = await platform.ask('POST', '/v1/admin/bots/baks', { botId: id, note: '' })
    expect(body.value).toEqual(expect.any(String))
    const limits = { cpuMilliseconds: 1400 }
    const asBot = await platform.ask(
      'PUT',
      `/v1/admin/bots/${id}`,
      { limits },
      { authorization: `Bearer ${body.value}`, 'x-bot-id': id },
    )
    expect([401, 403]).toContain(asBot.status)
    const stranger = await createMember(platform, 'owner')
    expect(await platform.ask('PUT', `/v1/admin/bots/${id}`, { limits }, stranger)).toMatchObject({ status: 404 })
    const viewer = await createMember(platform, 'viewer', platform.workspaceId)
    expect(await platform.ask('PUT', `/v1/admin/bots/${id}`, { limits }, viewer)).toMatchObject({ status: 403 })
    expect((await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.limits).toEqual({})
  })

  test('hold for it, above or below the default, and for no other bot', async () => {
    const code = hook('for (let call = 0; call < 5; call += 1) await client.getUser({ id: event.userId })')
    const more = await createBot(code, { limits: { hostCalls: 5 } })
    const usual = await createBot(code)
    const less = await createBot(code, { limits: { hostCalls: 1 } })
    expect(await wake(more)).toMatchObject({ status: 'processed' })
    for (const [bot, figure] of [
      [usual, 3],
      [less, 1],
    ] as const) {
      expect(await wake(bot)).toMatchObject({
        status: 'failed',
        failure_reason: expect.stringMatching(
          new RegExp(`^hostCalls: .*\\b${figure} calls .*limits\\.hostCalls.*SANDBOX_MAX_HOST_CALLS`),
        ),
      })
    }
  })

  test('hold from the next event on', async () => {
    const bot = await createBot(hook(work))
    expect(await wake(bot)).toMatchObject({ status: 'processed' })
    await updateBot(bot.id, { limits: { cpuMilliseconds: 100 } })
    expect(await wake(bot)).toMatchObject({ status: 'failed', failure_reason: expect.stringMatching(/^cpu: .*100 ms/) })
    await updateBot(bot.id, { limits: {} })
    expect(await wake(bot)).toMatchObject({ status: 'processed' })
  })

  test('hold only as far as the operator allows, should he have allowed more before', async () => {
    const bot = await createBot(hook('for (;;) await client.getUser({ id: event.userId })'))
    await platform.context
      .db('bots')
      .where({ id: bot.id })
      .update({ limits: { hostCalls: 50_000 } })
    expect(await wake(bot)).toMatchObject({ failure_reason: expect.stringMatching(/^hostCalls: .*\b6 calls/) })
  })

  test('hold for the integrations that it has installed, and not for those of others', async () => {
    const code = `export const actions = { work() { ${work} return {} } }`
    const calling = hook(`await client.callAction({ type: 'tool:work', input: {} })`)
    const failures = []
    for (const limits of [{ cpuMilliseconds: 100 }, {}]) {
      const bot = await createBot(calling, { limits })
      await installCode(platform, bot.id, code)
      failures.push((await wake(bot)).failure_reason)
    }
    expect(failures).toEqual([expect.stringContaining('100 ms'), null])
  })

  test('hold for the upload itself', async () => {
    const code = `${work}\nexport const hooks = {}`
    const refused = await platform.ask('POST', '/v1/admin/bots', { code, limits: { loadMilliseconds: 50 } })
    expect(refused).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
    expect(refused.body.message).toMatch(
      /more than 50 ms of processor time.*limits\.loadMilliseconds.*SANDBOX_MAX_LOAD_MS/,
    )
    const { id } = await createBot(code)
    await updateBot(id, { limits: { loadMilliseconds: 50 } })
    expect(await updateBot(id, { code })).toMatchObject({ status: 400 })
    expect(await updateBot(id, { code, limits: {} })).toMatchObject({ status: 200 })
  })

  test('name the operator’s setting to the author of an integration, whose upload has no limits of its own', async () => {
    const integration = { name: 'endless', version: '1.0.0', code: 'for (;;) {}\nexport const handler = () => ({})' }
    const { status, body } = await platform.ask('POST', '/v1/admin/integrations', integration)
    expect([status, body.message]).toEqual([400, expect.stringMatching(/for an integration.* SANDBOX_LOAD_MS\)$/)])
  })
})

describe('an isolate', () => {
  test('is another one when its heap is to be larger, and the same when another limit changes', async () => {
    const bot = await createBot(hook(`if (events !== 1) throw new Error('event ' + events)`), {
      limits: { memoryMegabytes: 32 },
    })
    const failures = []
    for (const limits of [{ memoryMegabytes: 32 }, { memoryMegabytes: 32, timers: 5 }, { memoryMegabytes: 64 }, {}]) {
      await updateBot(bot.id, { limits })
      failures.push((await wake(bot)).failure_reason)
    }
    // The default is 64 MB as well.
    expect(failures).toEqual([null, expect.stringContaining('event 2'), null, expect.stringContaining('event 2')])
  })

  test('holds as much as its bot is given', async () => {
    const code = hook(
      `const all = []; for (let megabyte = 0; megabyte < 60; megabyte += 1) all.push(new Array(1e5).fill(megabyte + 0.5))`,
    )
    const small = await createBot(code, { limits: { memoryMegabytes: 16 } })
    const large = await createBot(code, { limits: { memoryMegabytes: 128 } })
    expect(await wake(small)).toMatchObject({
      failure_reason: expect.stringMatching(/^memory: .*\b16 MB.*limits\.memoryMegabytes.*SANDBOX_MAX_HEAP_MB/),
    })
    expect(await wake(large)).toMatchObject({ status: 'processed' })
  })
})

test('a log that is cut says which limit it was', async () => {
  const bot = await createBot(hook('for (let line = 1; line < 100; line += 1) logger.info(line)'))
  expect(await wake(bot)).toMatchObject({ status: 'processed' })
  const log = await logOf(platform, bot.id)
  expect(log.slice(0, 5)).toEqual(['info 1', 'info 2', 'info 3', 'info 4', 'info 5'])
  expect(log.slice(5)).toEqual([expect.stringMatching(/^warn logs: .*\b5 lines/)])
})

const callThrice = (type: string) => `Promise.all([1, 2, 3].map(() =>
  client.callAction({ type: '${type}', input: {} }).catch((error) => logger.info(error.message))))`

test('the calls of actions are counted for all of an event, also those of integrations that call each other', async () => {
  const limits = { hostCalls: 6, logLines: 1000, wallMilliseconds: 4000 }
  const bot = await createBot(hook(`await ${callThrice('one:go')}`), { limits })
  for (const alias of ['one', 'two']) {
    const other = alias === 'one' ? 'two' : 'one'
    const action = `async go({ client, logger }) { logger.info('it runs'); await ${callThrice(`${other}:go`)} }`
    await installCode(platform, bot.id, `export const actions = { ${action} }`, { alias })
  }
  expect((await wake(bot)).status).toBe('processed')
  const lines = await logOf(platform, bot.id)
  expect(lines.filter((line) => line === 'info it runs')).toHaveLength(6)
  expect(lines.filter((line) => line.includes('An event may call 6 actions'))).toHaveLength(15)
})
