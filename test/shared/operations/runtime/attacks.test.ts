import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { hashToken } from '#shared/secrets.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import type { Ask } from '../../../support/entry-points.ts'
import { installIntegration, storeIntegration } from '../../../support/install-integration.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

let platform: Platform
let bot: DeployedBot
let asBot: Ask
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  bot = await platform.createBot()
  asBot = as({})
})
afterAll(() => platform[Symbol.asyncDispose]())

function as(headers: Record<string, string | undefined>): Ask {
  return (method, path, body) => platform.ask(method, path, body, { 'x-bot-id': bot.id, ...headers })
}

/** Installs an integration of its own kind on the bot. */
async function install(alias: string, name = `tool-${randomUUID()}`) {
  const integrationId = await storeIntegration(platform)
  const { id } = await installIntegration(platform, bot.id, integrationId, { alias, integration: name })
  return { id, integrationId, ask: as({ 'x-integration-id': integrationId }) }
}

const invalid = { status: 400, body: { type: 'InvalidPayload' } }
const forbidden = { status: 403, body: { type: 'Forbidden' } }

describe('an integration', () => {
  test.for([
    ['sendEvent', { payload: { forged: true } }],
    ['publishMessageStream', { signal: { type: 'abort', streamId: 'of the bot' } }],
  ] as const)('cannot speak to the chat’s listeners as the bot with chat:%s', async ([name, input]) => {
    const { ask } = await install(`a-${name}`)
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    const call = { type: `chat:${name}`, input: { conversationId, ...input } }
    expect(await ask('POST', '/v1/chat/actions', call)).toMatchObject(forbidden)
    expect(await asBot('POST', '/v1/chat/actions', call)).toMatchObject({ status: 200 })
  })

  test('does not receive the events of another one that had its alias before', async () => {
    const former = await install('crm')
    const created = await former.ask('POST', '/v1/chat/events', { type: 'lead', payload: { secret: 'of the former' } })
    const schedule = { delay: 3_600_000 }
    const later = await former.ask('POST', '/v1/chat/events', { type: 'call', payload: {}, schedule })
    expect((await former.ask('GET', '/v1/chat/events')).body.events).toHaveLength(2)
    await platform.context.db('installations').where({ id: former.id }).delete()
    const successor = await install('crm')
    const { id } = created.body.event
    expect(await successor.ask('GET', `/v1/chat/events/${id}`)).toMatchObject({ status: 404 })
    expect((await successor.ask('GET', '/v1/chat/events')).body.events).toEqual([])
    const scheduled = `/v1/chat/events/scheduled/${later.body.event.id}`
    expect(await successor.ask('DELETE', scheduled)).toMatchObject({ status: 404 })
    expect(await asBot('DELETE', scheduled)).toMatchObject({ status: 200 })
  })

  test('that is disabled does nothing with its token', async () => {
    const { id, integrationId } = await install('paused')
    const secret = randomUUID()
    const token = {
      id: newId('iak'),
      hash: hashToken(secret),
      kind: 'integration',
      integration_id: integrationId,
    } as const
    await platform.context.db('tokens').insert(token)
    const ask = as({ authorization: `Bearer ${secret}` })
    expect(await ask('GET', '/v1/chat/users')).toMatchObject({ status: 200 })
    await platform.context.db('installations').where({ id }).update({ enabled: false })
    expect(await ask('GET', '/v1/chat/users')).toMatchObject(forbidden)
  })
})

test('the same tags in another order make no second user, however many ask at once', async () => {
  const tags = { a: randomUUID(), b: randomUUID(), c: randomUUID() }
  const reversed = Object.fromEntries(Object.entries(tags).toReversed())
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      asBot('POST', '/v1/chat/users/get-or-create', { tags: index % 2 ? tags : reversed }),
    ),
  )
  expect(new Set(answers.map(({ body }) => body.user.id)).size).toBe(1)
})

const many = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`)

describe('unbounded input is refused:', () => {
  const tags = Object.fromEntries(many(101).map((key) => [key, 'v']))

  test.for([
    ['tags of a new user', 'POST', '/v1/chat/users', { tags }],
    ['tags of a user that may exist', 'POST', '/v1/chat/users/get-or-create', { tags }],
    ['discriminators', 'POST', '/v1/chat/users/get-or-create', { tags: { a: 'b' }, discriminateByTags: many(101) }],
    [
      'participants',
      'GET',
      `/v1/chat/conversations?${many(101)
        .map((id) => `participantIds=${id}`)
        .join('&')}`,
      undefined,
    ],
    [
      'filters',
      'GET',
      `/v1/chat/users?${many(101)
        .map((key) => `tags.${key}=v`)
        .join('&')}`,
      undefined,
    ],
  ] as const)('%s', async ([, method, path, body]) => {
    expect(await asBot(method, path, body)).toMatchObject(invalid)
  })
})

test('tags do not grow for ever, change after change', async () => {
  const { body } = await asBot('POST', '/v1/chat/users', {})
  const change = (round: number) => {
    const tags = Array.from({ length: 100 }, (_, index) => [`${round}-${index}`, '😀'.repeat(500)])
    return asBot('PUT', `/v1/chat/users/${body.user.id}`, { tags: Object.fromEntries(tags) })
  }
  expect(await change(1)).toMatchObject({ status: 200 })
  expect(await change(2)).toMatchObject({ status: 413, body: { type: 'LimitExceeded' } })
  expect(await change(1)).toMatchObject({ status: 200 })
})

test.for([
  ['POST', '/v1/chat/events', { type: 'x', payload: {}, schedule: { dateTime: '2016-12-31T23:59:60Z' } }],
  ['POST', '/v1/chat/workflows', { name: 'w', status: 'pending', timeoutAt: '2016-12-31T23:59:60Z' }],
  ['GET', '/v1/chat/messages?afterDate=2016-12-31T23:59:60Z', undefined],
] as const)('a second that no clock here knows is no time for %s %s', async ([method, path, body]) => {
  expect(await asBot(method, path, body)).toMatchObject(invalid)
})
