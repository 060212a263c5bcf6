import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { processorMilliseconds } from '../../../support/processor-time.ts'
import { clientNames, installIntegration, openClients, type BotWithClients, type Call } from './clients.ts'

let platform: Platform
let own: BotWithClients
let foreign: BotWithClients
beforeAll(async () => {
  platform = await openPlatform()
  own = await openClients(platform)
  foreign = await openClients(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const minute = 60_000
const named = () => ({ type: 'conversation', id: own.conversationId, name: newId('state') })

/** Milliseconds until a state expires. */
async function timeLeft(name: string): Promise<number> {
  const left = `extract(epoch from expires_at - now()) * 1000`
  const row = await platform.context
    .db('states')
    .where({ name })
    .first(platform.context.db.raw(`${left} as left`))
  return Number((row as unknown as { left: string }).left)
}

describe.each(clientNames)('through %s', (clientName) => {
  const call: Call = (...given) => own.clients[clientName](...given)

  test('getOrSetState creates a state where there is none, and leaves one that there is', async () => {
    const state = named()
    const created = await call('getOrSetState', { ...state, payload: { n: 0 } })
    expect(created).toMatchObject({
      state: { ...state, id: expect.any(String), payload: { n: 0 }, botId: own.botId },
      meta: { cached: false },
    })
    const found = await call('getOrSetState', { ...state, payload: { n: 1 }, expiry: minute })
    expect(found).toEqual(created)
    expect(await call('getState', state)).toEqual(created)
  })

  test('patchState sets the given keys, leaves the others, and keeps the expiry unless it is given', async () => {
    const state = named()
    await call('setState', { ...state, payload: { a: 1, b: { c: 1 } }, expiry: minute })
    const patched = await call('patchState', { ...state, payload: { b: { d: 2 }, e: null } })
    expect(patched.state).toMatchObject({ payload: { a: 1, b: { d: 2 }, e: null }, expiry: minute })
    expect((await call('patchState', { ...state, payload: {}, expiry: null })).state).not.toHaveProperty('expiry')
    expect((await call('patchState', { ...named(), payload: { new: true } })).state.payload).toEqual({ new: true })
  })

  test('patchState is refused when the state would grow too large, and leaves it as it was', async () => {
    const state = named()
    const half = 'x'.repeat(70 * 1024)
    await call('patchState', { ...state, payload: { one: half } })
    await expect(call('patchState', { ...state, payload: { two: half } })).rejects.toMatchObject({
      code: 413,
      type: 'LimitExceeded',
    })
    expect(Object.keys((await call('getState', state)).state.payload)).toEqual(['one'])
  })

  test('setStateExpiry lets a state expire, or keeps it', async () => {
    const state = named()
    const absent = { code: 404, type: 'ResourceNotFound' }
    await expect(call('setStateExpiry', { ...state, expiry: minute })).rejects.toMatchObject(absent)
    await call('setState', { ...state, payload: {} })
    const set = await call('setStateExpiry', { ...state, expiry: minute })
    expect(set.state).toMatchObject({ expiry: minute, expiresAt: expect.any(String) })
    expect((await call('setStateExpiry', { ...state, expiry: null })).state).not.toHaveProperty('expiresAt')
    await call('setStateExpiry', { ...state, expiry: 1 })
    await expect.poll(() => call('getState', state).catch((error: unknown) => error)).toMatchObject(absent)
  })

  test.each([
    ['getState', {}],
    ['getOrSetState', { payload: {} }],
    ['patchState', { payload: { touched: true } }],
  ])('%s puts off the expiry of a state', async (operation, body) => {
    const state = named()
    await call('setState', { ...state, payload: {}, expiry: 10 * minute })
    await platform.context
      .db('states')
      .where({ name: state.name })
      .update({ expires_at: platform.context.db.raw(`now() + interval '1 minute'`) })
    await call(operation, { ...state, ...body })
    expect(await timeLeft(state.name)).toBeGreaterThan(9 * minute)
  })

  test('an expired state is as if it had never been, for those too who would find or change it', async () => {
    const state = named()
    const expired = async () => {
      await call('setState', { ...state, payload: { old: true }, expiry: 10 * minute })
      await platform.context
        .db('states')
        .where({ name: state.name })
        .update({ expires_at: new Date(0) })
    }
    await expired()
    expect((await call('patchState', { ...state, payload: { fresh: true } })).state.payload).toEqual({ fresh: true })
    await expired()
    expect((await call('getOrSetState', { ...state, payload: { fresh: true } })).state.payload).toEqual({ fresh: true })
    await expired()
    await expect(call('setState', { ...state, payload: null })).rejects.toMatchObject({ code: 404 })
  })

  test('a workflow has states, which go with it', async () => {
    const { workflow } = await call('createWorkflow', { name: 'errand', status: 'listening' })
    const state = { type: 'workflow', id: workflow.id, name: 'progress' }
    await call('setState', { ...state, payload: { step: 1 } })
    expect((await call('getState', state)).state).toMatchObject({ type: 'workflow', payload: { step: 1 } })
    await call('deleteWorkflow', { id: workflow.id })
    await expect(call('getState', state)).rejects.toMatchObject({ code: 404 })
    expect(await platform.context.db('states').where({ owner_id: workflow.id })).toEqual([])
  })

  test('states of what is not the bot’s are not there', async () => {
    const { workflow } = await foreign.clients[clientName]('createWorkflow', { name: 'theirs', status: 'listening' })
    const owners = {
      conversation: foreign.conversationId,
      user: foreign.userId,
      bot: foreign.botId,
      workflow: workflow.id,
    }
    for (const [type, id] of Object.entries(owners)) {
      const refused = call('getOrSetState', { type, id, name: 'x', payload: {} })
      await expect(refused).rejects.toMatchObject({ code: 404, type: 'ResourceNotFound' })
    }
  })

  test('states of type integration are not for bots', async () => {
    const refused = call('setState', { type: 'integration', id: own.botId, name: 'x', payload: {} })
    await expect(refused).rejects.toMatchObject({ code: 403, type: 'Forbidden' })
  })
})

test('an integration’s states do not meet the bot’s or another installation’s of the same name', async () => {
  const { botId } = own
  const first = await installIntegration(platform, botId, 'first')
  const second = await installIntegration(platform, botId, 'second')
  const bot = own.clients['the published client']
  const { db } = platform.context
  const path = `/v1/chat/states/bot/${botId}/shared`
  await bot('setState', { type: 'bot', id: botId, name: 'shared', payload: { of: 'bot' } })
  for (const [of, integration] of Object.entries({ first, second })) {
    expect(await integration.ask('GET', path)).toMatchObject({ status: 404 })
    expect(await integration.ask('POST', path, { payload: { of } })).toMatchObject({ status: 200 })
  }
  expect(await first.ask('GET', path)).toMatchObject({ body: { state: { payload: { of: 'first' } } } })
  expect((await bot('getState', { type: 'bot', id: botId, name: 'shared' })).state.payload).toEqual({ of: 'bot' })

  const ownPath = `/v1/chat/states/integration/${first.integrationId}/credentials`
  expect(await first.ask('POST', ownPath, { payload: { key: 1 } })).toMatchObject({
    status: 200,
    body: { state: { type: 'integration', payload: { key: 1 } } },
  })
  expect(await first.ask('GET', ownPath)).toMatchObject({ status: 200 })
  expect(await second.ask('GET', ownPath)).toMatchObject({ status: 404 })

  await db('installations').where({ id: first.installationId }).delete()
  expect(await db('states').where({ installation_id: first.installationId })).toEqual([])
  expect((await bot('getState', { type: 'bot', id: botId, name: 'shared' })).state.payload).toEqual({ of: 'bot' })
})

const botState = (name: string) => ({ type: 'bot', id: own.botId, name })

describe('the declaration of a state', () => {
  const counter = {
    type: 'bot',
    expiry: minute,
    schema: {
      type: 'object',
      properties: { n: { type: 'integer', default: 7 }, word: { type: 'string', pattern: '^(a+)+$' } },
    },
  }
  const closed = {
    type: 'object',
    properties: { id: { type: 'string' } },
    required: ['id'],
    additionalProperties: false,
  }
  const account = {
    type: 'bot',
    schema: { ...closed, properties: { user: { anyOf: [closed, { type: 'null' }] }, bot: closed }, required: [] },
  }
  const settings = {
    type: 'bot',
    expiry: minute,
    schema: {
      type: 'object',
      properties: {
        language: { type: 'string', default: 'en' },
        token: { anyOf: [closed, { type: 'null' }], default: null },
      },
      required: ['language', 'token'],
      additionalProperties: false,
    },
  }
  let bot: Call
  beforeAll(async () => {
    const { db } = platform.context
    await db('bots')
      .where({ id: own.botId })
      .update({ definition: { states: { counter, endless: counter, account, settings } } })
    bot = own.clients['the published client']
  })
  test('holds for all who write it, with its defaults and its expiry', async () => {
    const created = await bot('getOrSetState', { ...botState('counter'), payload: {} })
    expect(created.state).toMatchObject({ payload: { n: 7 }, expiry: minute })
    const set = await bot('setState', { ...botState('counter'), payload: { n: 1 }, expiry: null })
    expect(set.state).not.toHaveProperty('expiry')
    for (const operation of ['setState', 'patchState']) {
      const refused = bot(operation, { ...botState('counter'), payload: { n: 'many' } })
      await expect(refused).rejects.toMatchObject({ code: 400, type: 'InvalidDataFormat' })
    }
    expect((await bot('getState', botState('counter'))).state.payload).toEqual({ n: 1 })
  })

  test('keeps fields that it excludes, since the schema of an author ignores them', async () => {
    const payload = { user: { id: 'u', aadObjectId: 'a' }, bot: { id: 'b', role: 'bot' }, locale: 'en' }
    const { state } = await bot('setState', { ...botState('account'), payload })
    expect(state.payload).toEqual(payload)
    const patched = await bot('patchState', { ...botState('account'), payload: { more: 1 } })
    expect(patched.state.payload).toEqual({ ...payload, more: 1 })
    const refused = bot('setState', { ...botState('account'), payload: { ...payload, bot: { role: 'bot' } } })
    await expect(refused).rejects.toMatchObject({ type: 'InvalidDataFormat', message: expect.stringContaining("'id'") })
  })

  test('gives a state whose fields all have defaults before it is set, and completes what is patched', async () => {
    const { state } = await bot('getState', botState('settings'))
    expect(state).toMatchObject({ payload: { language: 'en', token: null }, expiry: minute })
    expect((await bot('getState', botState('settings'))).state.id).toBe(state.id)
    await platform.context.db('states').where({ id: state.id }).delete()
    const patched = await bot('patchState', { ...botState('settings'), payload: { language: 'fr' } })
    expect(patched.state.payload).toEqual({ language: 'fr', token: null })
    await expect(bot('getState', botState('endless'))).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  test('says nothing of a state of another type or another’s', async () => {
    const ofUser = { type: 'user', id: own.userId, name: 'counter' }
    expect((await bot('setState', { ...ofUser, payload: { n: 'many' } })).state.payload).toEqual({ n: 'many' })
    const mail = await installIntegration(platform, own.botId, 'plain')
    const path = `/v1/chat/states/bot/${own.botId}/counter`
    expect(await mail.ask('POST', path, { payload: { n: 'many' } })).toMatchObject({ status: 200 })
    const { db } = platform.context
    await db('integrations')
      .where({ id: mail.integrationId })
      .update({ definition: { states: { counter } } })
    expect(await mail.ask('POST', path, { payload: { n: 'many' } })).toMatchObject({
      status: 400,
      body: { type: 'InvalidDataFormat' },
    })
  })

  test('does not hold up the process, however long a pattern would take', async () => {
    const word = `${'a'.repeat(40)}!`
    const milliseconds = await processorMilliseconds(async () => {
      for (let n = 0; n < 60; n++) {
        const refused = bot('setState', { ...botState('endless'), payload: { word } })
        await expect(refused).rejects.toMatchObject({
          type: 'InvalidDataFormat',
          message: expect.stringContaining('must match pattern'),
        })
      }
    })
    expect(milliseconds).toBeLessThan(4000)
  })
})

test('a repeated getOrSetState of a run gives what the first one gave', async () => {
  const bot = await platform.createBot(`
    let dead = false
    export const hooks = {
      async afterIncomingEvent({ event, client }) {
        const name = { type: 'bot', id: event.botId, name: 'counter' }
        const { state } = await client.getOrSetState({ ...name, payload: { n: 0 } })
        await client.setState({ ...name, payload: { n: state.payload.n + 1 } })
        if (!dead) { dead = true; throw new Error('once') }
      },
    }
    export const retry = { attempts: 2, backoff: 1 }`)
  await platform.ask('POST', '/v1/chat/events', { type: 'count', payload: {} }, { 'x-bot-id': bot.id })
  await expect
    .poll(async () => (await platform.context.db('events').where({ bot_id: bot.id }).first())?.status)
    .toBe('processed')
  expect((await platform.context.db('states').where({ bot_id: bot.id, name: 'counter' }).first())?.payload).toEqual({
    n: 1,
  })
})
