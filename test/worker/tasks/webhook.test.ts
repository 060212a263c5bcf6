import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { deleteOldSignals } from '#shared/store/conversation-log.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { listen } from '../../support/event-stream.ts'
import { createMember } from '../../support/members.ts'
import { backEnds, openPlatform, type BackEnd, type Platform } from '../../support/platform.ts'
import { openReceiver, type Received, type Receiver } from '../../support/receiver.ts'

const echo = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 're: ' + event.preview } })
    },
  }`

function open(receiver: Receiver, environment: NodeJS.ProcessEnv = {}, backEnd: BackEnd = 'redis'): Promise<Platform> {
  return openPlatform({ backEnd, environment: { OUTBOUND_ALLOW_PRIVATE: receiver.host, ...environment } })
}

async function createWithWebhook(platform: Platform, configuration: object) {
  const bot = await platform.createBot(echo)
  const integrations = { chat: { configuration } }
  const { status, body } = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations })
  expect({ status, body }).toMatchObject({ status: 200 })
  return bot
}

const told = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body))

test.each(backEnds)('a webhook receives the same as the listeners, in the same order, on %s', async (backEnd) => {
  await using receiver = await openReceiver()
  await using platform = await open(receiver, {}, backEnd)
  const bot = await createWithWebhook(platform, {
    webhookUrl: `${receiver.url}/hook?token=1`,
    webhookSecret: 'between us',
  })
  const alice = await createChatUser(bot.chatUrl, { id: 'alice' })
  await createChatUser(bot.chatUrl, { id: 'bob' })
  await alice.createConversation('theirs')
  const stream = await listen(bot.chatUrl, alice.key, 'theirs')
  await alice.ask('POST', '/conversations/theirs/participants', { userId: 'bob' })
  const { body } = await alice.send('theirs', 'hello')
  await alice.ask('POST', '/events', { conversationId: 'theirs', payload: { any: 'thing' } })
  await alice.ask('DELETE', '/conversations/theirs/participants/bob')
  await alice.ask('DELETE', `/messages/${body.message.id}`)
  await expect.poll(stream.frames).toHaveLength(6)

  await expect.poll(() => told(receiver).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(5)
  await expect.poll(() => told(receiver).at(-1), { timeout: 10_000 }).toEqual(stream.frames().at(-1))
  const types = ['message_created', 'event_created', 'message_deleted', 'participant_added', 'participant_removed']
  expect(new Set(told(receiver).map(({ type }) => type))).toEqual(new Set(types))
  // A message that is deleted before its signal is sent has no signal of its creation.
  const heard = stream.frames()
  const indexes = told(receiver).map((signal) => heard.findIndex((frame) => isDeepStrictEqual(frame, signal)))
  expect(indexes).not.toContain(-1)
  expect(indexes).toEqual(indexes.toSorted((a, b) => a - b))
  expect(receiver.received[0]).toMatchObject({
    method: 'POST',
    path: '/hook/?token=1',
    headers: { 'content-type': 'application/json', 'x-secret-key': 'between us' },
  })
  await expect.poll(() => platform.context.db('webhook_cursors')).toEqual([])
  await stream.close()
})

test('a failed webhook is retried, and receives nothing later before it has accepted', async () => {
  let refusals = 0
  const answer = ({ body }: Received) => (body.includes('first') && !body.includes('re:') && refusals++ < 2 ? 503 : 204)
  await using receiver = await openReceiver(answer)
  await using platform = await open(receiver)
  const bot = await createWithWebhook(platform, { webhookUrl: receiver.url })
  const alice = await createChatUser(bot.chatUrl)
  const conversationId = await alice.createConversation()
  await alice.send(conversationId, 'first')
  await alice.send(conversationId, 'second')
  const texts = () => told(receiver).map(({ data }) => data.payload.text)
  await expect
    .poll(() => new Set(texts()), { timeout: 20_000 })
    .toEqual(new Set(['first', 're: first', 'second', 're: second']))
  expect(texts().slice(0, 3)).toEqual(['first', 'first', 'first'])
  expect(receiver.received[0]!.headers).not.toHaveProperty('x-secret-key')
})

test('an entry whose announcement was lost is delivered nevertheless', async () => {
  await using receiver = await openReceiver()
  await using platform = await open(receiver, { WORKER_SWEEP_SECONDS: '1' })
  const bot = await createWithWebhook(platform, { webhookUrl: receiver.url })
  const alice = await createChatUser(bot.chatUrl)
  const conversationId = await alice.createConversation()
  const wake = platform.context.queue.wake
  platform.context.queue.wake = async () => {
    throw new Error('The queue is away')
  }
  await alice.send(conversationId, 'hello')
  platform.context.queue.wake = wake
  await expect
    .poll(() => told(receiver).map(({ data }) => data.payload.text), { timeout: 20_000 })
    .toEqual(['hello', 're: hello'])
})

test('an entry that waits for the webhook for longer than a day is delivered', async () => {
  let isUp = false
  const accepted: string[] = []
  await using receiver = await openReceiver(({ body }) => {
    if (isUp) accepted.push(JSON.parse(body).type)
    return isUp ? 204 : 503
  })
  await using platform = await open(receiver, { WORKER_SWEEP_SECONDS: '1' })
  const { db } = platform.context
  const bot = await createWithWebhook(platform, { webhookUrl: receiver.url })
  const alice = await createChatUser(bot.chatUrl, { id: 'alice' })
  await createChatUser(bot.chatUrl, { id: 'bob' })
  await alice.createConversation('theirs')
  await alice.ask('POST', '/conversations/theirs/participants', { userId: 'bob' })
  const cursors = () => db('webhook_cursors')
  await expect.poll(async () => (await cursors())[0]?.failures, { timeout: 10_000 }).toBeGreaterThan(0)
  const twoDaysAgo = (column: string) => ({ [column]: db.raw(`?? - interval '2 days'`, [column]) })
  await cursors().update(twoDaysAgo('delivered'))
  await db('conversation_signals').update(twoDaysAgo('created_at'))
  await deleteOldSignals(db)
  isUp = true
  await cursors().update({ due_at: new Date(0) })
  await expect.poll(cursors, { timeout: 20_000 }).toEqual([])
  expect(accepted).toEqual(['participant_added'])
  await deleteOldSignals(db)
  expect(await db('conversation_signals')).toEqual([])
})

test('the webhook of an inbox is told of each change of a handover, in order, and once what it accepts', async () => {
  let refusals = 0
  const answer = ({ body }: Received) => (body.includes('handover_assigned') && refusals++ < 2 ? 503 : 204)
  await using receiver = await openReceiver(answer)
  await using platform = await open(receiver)
  const bot = await platform.createBot('export const hooks = {}')
  const alice = await createChatUser(bot.chatUrl)
  const conversationId = await alice.createConversation()
  const here = `/v1/admin/bots/${bot.id}/conversations/${conversationId}`
  const developer = await createMember(platform, 'developer', platform.workspaceId)
  const webhook = { url: `${receiver.url}/inbox`, secret: 'a secret' }
  const path = '/v1/admin/inbox-webhook'
  expect((await platform.ask('PUT', path, webhook, developer)).status).toBe(403)
  expect((await platform.ask('PUT', path, { url: 'http://user@example.com/' })).status).toBe(400)
  expect((await platform.ask('PUT', path, webhook)).status).toBe(200)
  const stored = await platform.context.db('inbox_webhooks').pluck('secret')
  expect(JSON.stringify([stored, (await platform.ask('GET', path)).body])).not.toContain('a secret')

  await platform.ask(
    'POST',
    `/v1/chat/conversations/${conversationId}/handover`,
    { title: 'Refund' },
    { 'x-bot-id': bot.id },
  )
  const { handover } = (await platform.ask('POST', `${here}/handover`, {})).body
  const { id } = (await alice.send(conversationId, 'hello')).body.message
  const ofHandover = `/v1/admin/bots/${bot.id}/handovers/${handover.id}`
  // News are in the order of their transactions, and that of a message is the worker's.
  await expect.poll(() => told(receiver).some(({ type }) => type === 'message_created'), { timeout: 30_000 }).toBe(true)
  await platform.ask('PUT', `${ofHandover}/member`, { memberId: null })
  await platform.ask('POST', `${ofHandover}/resolve`, {})
  const types = () => told(receiver).map(({ type }) => type as string)
  await expect
    .poll(types, { timeout: 30_000 })
    .toEqual([
      'handover_created',
      'handover_assigned',
      'handover_assigned',
      'handover_assigned',
      'message_created',
      'handover_released',
      'handover_ended',
    ])
  const [created, refused, , assigned, message] = told(receiver)
  expect(created).toMatchObject({ bot: { id: bot.id }, handover: { id: handover.id, conversationId, title: 'Refund' } })
  expect(refused.id).toBe(assigned.id)
  expect(assigned).toMatchObject({ memberId: handover.member.id })
  expect(message).toMatchObject({ messageId: id, memberId: handover.member.id })
  expect(receiver.received[0]).toMatchObject({ path: '/inbox', headers: { 'x-secret-key': 'a secret' } })
  expect(JSON.stringify(message)).not.toContain('hello')
  await expect
    .poll(async () => (await platform.ask('GET', path)).body.webhook, { timeout: 10_000 })
    .toMatchObject({
      hasSecret: true,
      waiting: 0,
      failures: 0,
    })
  const metrics = await platform.context.metrics.registry.metrics()
  expect(metrics).toContain('isobot_webhook_requests_total{webhook="inbox",outcome="accepted"} 5')
  expect(metrics).toContain('isobot_webhook_requests_total{webhook="inbox",outcome="failed"} 2')
  expect((await platform.ask('DELETE', path)).status).toBe(200)
  await platform.ask('POST', `${here}/handover`, {})
  expect(await platform.context.db('inbox_news')).toEqual([])
})

test('a message that no worker has taken when its handover ends is news, before the end', async () => {
  await using platform = await openPlatform({ worker: false })
  const { db } = platform.context
  const bot = await platform.createBot()
  const alice = await createChatUser(bot.chatUrl)
  const conversationId = await alice.createConversation()
  expect((await platform.ask('PUT', '/v1/admin/inbox-webhook', { url: 'https://example.com/' })).status).toBe(200)
  const here = `/v1/admin/bots/${bot.id}`
  const { handover } = (await platform.ask('POST', `${here}/conversations/${conversationId}/handover`, {})).body
  const { id } = (await alice.send(conversationId, 'hello')).body.message
  expect((await platform.ask('POST', `${here}/handovers/${handover.id}/resolve`, {})).status).toBe(200)
  expect(await db('events').where({ message_id: id })).toMatchObject([{ status: 'ignored' }])
  const news = await db('inbox_news').orderBy('id').select('type', 'message_id', 'account_id')
  expect(news).toMatchObject([
    { type: 'handover_created', message_id: null },
    { type: 'message_created', message_id: id, account_id: handover.member.id },
    { type: 'handover_ended', message_id: null },
  ])
})

test('the deletion of a member is no news of handovers that have ended', async () => {
  await using platform = await openPlatform({ worker: false })
  const { db } = platform.context
  const bot = await platform.createBot()
  const conversationId = await (await createChatUser(bot.chatUrl)).createConversation()
  const member = await createMember(platform, 'agent', platform.workspaceId)
  const path = `/v1/admin/bots/${bot.id}`
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': bot.id })
  const { body } = await platform.ask('POST', `${path}/conversations/${conversationId}/handover`, {}, member)
  expect((await platform.ask('POST', `${path}/handovers/${body.handover.id}/resolve`, {}, member)).status).toBe(200)
  await platform.ask('PUT', '/v1/admin/inbox-webhook', { url: 'https://example.com/' })
  expect((await platform.ask('POST', '/v1/admin/account/me', {}, member)).status).toBe(200)
  expect(await db('handovers').where({ bot_id: bot.id }).pluck('account_id')).toEqual([null])
  expect(await db('inbox_news').select('type')).toEqual([])
})

test('a webhook at an address that is not public is never called, and the bot’s log says why in the end', async () => {
  await using receiver = await openReceiver()
  await using platform = await openPlatform()
  const bot = await createWithWebhook(platform, { webhookUrl: receiver.url })
  const alice = await createChatUser(bot.chatUrl)
  const conversationId = await alice.createConversation()
  await alice.send(conversationId, 'hello')
  const cursor = () => platform.context.db('webhook_cursors').where({ conversation_id: conversationId }).first()
  await expect.poll(async () => (await cursor())?.failures, { timeout: 10_000 }).toBeGreaterThan(0)
  // As after many attempts; the wait before the last one is over.
  await platform.context.db('webhook_cursors').update({ failures: 9, due_at: new Date(0) })
  await platform.context.queue.wake('webhook', conversationId, bot.id)
  const lines = () => platform.context.db('logs').where({ bot_id: bot.id, level: 'error' }).pluck('message')
  await expect
    .poll(lines, { timeout: 10_000 })
    .toEqual([
      expect.stringMatching(/^Delivering message_created to the webhook failed after 10 attempts: .*127\.0\.0\.1/),
    ])
  expect((await platform.ask('PUT', '/v1/admin/inbox-webhook', { url: receiver.url })).status).toBe(200)
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': bot.id })
  await expect.poll(() => platform.context.db('inbox_webhooks').pluck('failures'), { timeout: 10_000 }).not.toContain(0)
  await platform.context.db('inbox_webhooks').update({ failures: 9, due_at: new Date(0) })
  await expect
    .poll(lines, { timeout: 10_000 })
    .toContainEqual(
      expect.stringMatching(/^Delivering handover_created of .* failed after 10 attempts: .*127\.0\.0\.1/),
    )
  expect(receiver.received).toEqual([])
  const metrics = await platform.context.metrics.registry.metrics()
  expect(metrics).toContain('isobot_webhook_drops_total{webhook="chat"} 1')
  expect(metrics).toContain('isobot_webhook_drops_total{webhook="inbox"} 1')
})

test('a chat without a webhook stores no deliveries', async () => {
  await using platform = await openPlatform()
  const bot = await platform.createBot(echo)
  const alice = await createChatUser(bot.chatUrl)
  const conversationId = await alice.createConversation()
  await alice.send(conversationId, 'hello')
  await expect.poll(async () => (await alice.messages(conversationId)).length, { timeout: 10_000 }).toBe(2)
  expect(await platform.context.db('webhook_cursors')).toEqual([])
})
