import { once } from 'node:events'
import { SignJWT } from 'jose'
import { WebSocket } from 'ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen, openStream, type EventStream } from '../../../support/event-stream.ts'
import { openPlatform, send, type DeployedBot, type Platform } from '../../../support/platform.ts'
import { installWebchat, visit } from '../../../support/webchat.ts'
import { createMember } from '../../../support/members.ts'
import { endedEvents } from '../../../support/outcomes.ts'

const code = `export const hooks = {
  async afterIncomingEvent({ event, client }) {
    const { conversationId, type, payload } = event
    const text = type === 'webchat:conversationStarted' ? 'Welcome' : JSON.stringify({ type, payload })
    await client.createMessage({ conversationId, type: 'text', payload: { text } })
  },
  async afterIncomingMessage({ event, client }) {
    const { conversationId, payload } = event
    if (payload.value) {
      await client.createMessage({ conversationId, type: 'text', payload: { text: 'value ' + payload.value } })
    }
    if (payload.text === 'stream' || payload.text === 'stream slowly') {
      const stream = client.streamMessage(conversationId)
      for (let part = 0; part < 40; part++) {
        await stream.write(part + ' ')
        if (payload.text === 'stream slowly') await new Promise((resolve) => setTimeout(resolve, 75))
      }
      await stream.end()
    }
    if (payload.text === 'types') {
      const say = (type, payload) => client.createMessage({ conversationId, type, payload })
      await say('carousel', { items: [{ title: 'A', actions: [] }] })
      await say('bloc', { items: [{ type: 'text', payload: { text: 'in a bloc' } }] })
      await say('custom', { url: 'https://example.com/part.js', name: 'part' })
    }
  },
}`

let platform: Platform
let bot: DeployedBot
let url: string
beforeAll(async () => {
  platform = await openPlatform({ environment: { WEBCHAT_RATE_LIMIT_VISITOR: '1000' } })
  bot = await platform.createBot(code)
  url = await installWebchat(platform, bot.id)
})
afterAll(() => platform[Symbol.asyncDispose]())

const text = (words: string) => ({ type: 'text', text: words })
const payloads = (messages: { payload: unknown }[]) => messages.map(({ payload }) => payload)
const forbidden = { status: 403, body: { type: 'Forbidden' } }
const unauthorized = { status: 401, body: { type: 'Unauthorized' } }
const invalid = { status: 400, body: { type: 'InvalidPayload' } }

describe('installing the web chat', () => {
  test('is by its id among public integrations, under its own name alone, and removing it ends its address', async () => {
    const { id } = await platform.createBot()
    const { body: list } = await platform.ask('GET', '/v1/admin/hub/integrations?name=webchat')
    const [{ id: integrationId, version }] = list.integrations
    expect(version).toBe('0.3.0')
    const { body: full } = await platform.ask('GET', `/v1/admin/hub/integrations/${integrationId}`)
    expect(Object.keys(full.integration.events).toSorted()).toEqual(['conversationStarted', 'trigger'])
    expect(Object.keys(full.integration.channels.channel.messages)).toContain('custom')
    const update = (integrations: object) => platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations })
    expect(await update({ other: { integrationId } })).toMatchObject(invalid)
    for (const configuration of [{ allowedOrigins: ['example.com'] }, { allowedOrigin: [] }]) {
      expect(await update({ webchat: { integrationId, configuration } })).toMatchObject(invalid)
    }
    const withPath = { allowedOrigins: ['https://www.example.com/shop'] }
    expect((await update({ webchat: { integrationId, configuration: withPath } })).body.message).toMatch(
      /^integrations\.webchat\.configuration\.allowedOrigins\.0 must .*: Scheme, host and port without a path/,
    )
    const { body } = await update({ webchat: { integrationId, configuration: { encryptionKey: 'k' } } })
    const installed = body.bot.integrations.webchat
    expect(installed).toMatchObject({
      id: integrationId,
      version,
      enabled: true,
      configuration: { encryptionKey: 'k' },
    })
    expect(installed.webhookUrl).toBe(`${platform.url}/webchat/${installed.webhookId}`)
    expect((await send('GET', `${installed.webhookUrl}/conversations`)).status).toBe(401)
    // The addresses of the chat and of the web chat do not lead to each other.
    for (const other of [
      `${platform.url}/chat/${installed.webhookId}/hello`,
      `${bot.chatUrl.replace('/chat/', '/webchat/')}/conversations`,
    ]) {
      expect((await send('GET', other)).status).toBe(404)
    }
    await update({ webchat: { enabled: false } })
    expect((await send('GET', `${installed.webhookUrl}/conversations`)).status).toBe(404)
    await update({ webchat: null })
    expect((await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.integrations).not.toHaveProperty('webchat')
  })

  test('keeps the encryption key when a developer, who cannot read it, writes the configuration back', async () => {
    const { id } = await platform.createBot()
    const address = await installWebchat(platform, id, { encryptionKey: 'k', botName: 'Ada' })
    const developer = await createMember(platform, 'developer', platform.workspaceId)
    const { body } = await platform.ask('GET', `/v1/admin/bots/${id}`, undefined, developer)
    const former = body.bot.integrations.webchat.configuration
    expect(former).toEqual({ botName: 'Ada' })
    const write = (configuration: object, member = {}) =>
      platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations: { webchat: { configuration } } }, member)
    const written = await write({ ...former, botName: 'Eve' }, developer)
    expect(written.body.bot.integrations.webchat.configuration).toEqual({ botName: 'Eve' })
    expect((await send('GET', `${address}/initialize`)).status).toBe(401)
    const open = await write({ botName: 'Eve' })
    expect(open.body.bot.integrations.webchat.configuration).toEqual({ botName: 'Eve' })
    await (await visit(address)).stream.close()
  })

  test('ends the open streams when it is disabled', async () => {
    const { id } = await platform.createBot()
    const address = await installWebchat(platform, id)
    const response = await fetch(`${address}/initialize`)
    await platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations: { webchat: { enabled: false } } })
    expect(await response.text()).toContain('init')
  })

  test('reserves its name among integrations of workspaces', async () => {
    const webchat = { name: 'webchat', version: '1.0.0', code: 'export const actions = {}' }
    const answer = await platform.ask('POST', '/v1/admin/integrations', webchat)
    expect(answer).toMatchObject({ status: 409, body: { type: 'AlreadyExists' } })
  })
})

describe('a conversation', () => {
  test('begins with a visitor, a key and the welcome of the bot, once for each conversation', async () => {
    const ann = await visit(url)
    expect(ann.init).toMatchObject({ messages: [], participants: [{ id: ann.init.user.id }] })
    const first = await ann.start()
    expect(first).toMatchObject({
      status: 201,
      body: { event: { payload: { data: { status: { isInitial: true } } } } },
    })
    const [welcome] = await ann.heard(1)
    expect(welcome).toMatchObject({ type: 'message_created', data: { payload: text('Welcome'), userId: bot.id } })
    expect(welcome!.data).not.toHaveProperty('isBot')
    const again = await ann.start()
    expect(again.body.event.payload.data.status).toEqual({ isInitial: false })
    const [event] = await endedEvents(platform, bot.id, 1)
    expect(event).toMatchObject({
      type: 'webchat:conversationStarted',
      integration: 'webchat',
      payload: { userId: ann.init.user.id, conversationId: ann.conversationId },
    })
    await ann.stream.close()
  })

  test('reports the visitor’s message as received, then shows it with its metadata', async () => {
    const ann = await visit(url)
    const metadata = { clientMessageId: 'mine' }
    const { status, body } = await ann.say({ ...text('Blue'), value: 'blue' }, metadata)
    expect({ status, body }).toMatchObject({ status: 201, body: { message: { payload: { value: 'blue' }, metadata } } })
    expect(await ann.heard(3)).toMatchObject([
      { type: 'message_status_changed', data: { newStatus: 'processing', message: { metadata } } },
      { type: 'message_created', data: { id: body.message.id, metadata } },
      { type: 'message_created', data: { payload: text('value blue') } },
    ])
    await ann.stream.close()
  })

  test('gives the bot what a page sends as an event', async () => {
    const ann = await visit(url)
    const data = { data: { type: 'cart', items: 3 } }
    const event = { conversationId: ann.conversationId, payload: { type: 'custom', data } }
    expect((await ann.ask('POST', '/events', { ...event, bindConversation: true, bindUser: true })).status).toBe(201)
    const [answer] = await ann.heard(1)
    expect(JSON.parse(answer!.data.payload.text)).toEqual({
      type: 'webchat:trigger',
      payload: { origin: 'website', userId: ann.init.user.id, conversationId: ann.conversationId, payload: data },
    })
    await ann.stream.close()
  })

  test('is resumed with the key, its messages newest first, and no entry is lost or doubled', async () => {
    const ann = await visit(url)
    await ann.start()
    await ann.heard(1)
    await ann.say(text('one'))
    await ann.stream.close()
    await ann.say(text('two'))
    const { key, conversationId } = ann
    const back = await visit(url, { key, conversationId })
    expect(back.init.user).toMatchObject({ id: ann.init.user.id, userKey: key })
    expect(back.init.messages.map(({ payload }: { payload: { text: string } }) => payload.text)).toEqual([
      'two',
      'one',
      'Welcome',
    ])
    await back.say(text('three'))
    expect(await back.heard(1)).toMatchObject([{ type: 'message_created', data: { payload: text('three') } }])
    await back.stream.close()
  })

  test('is a new one for a key alone, unless the last is empty; the list has each with its last message', async () => {
    const ann = await visit(url)
    const { key } = ann
    const same = await visit(url, { key })
    expect(same.conversationId).toBe(ann.conversationId)
    await ann.say({ type: 'bloc', items: [{ type: 'text', payload: { text: 'old' } }] })
    const next = await visit(url, { key })
    expect(next.conversationId).not.toBe(ann.conversationId)
    await next.say(text('new'))
    const list = async () => (await ann.ask('GET', '/conversations')).body.conversations
    expect(await list()).toMatchObject([
      { id: next.conversationId, lastMessage: { payload: text('new'), userId: ann.init.user.id } },
      { id: ann.conversationId, lastMessage: { payload: { items: [{ type: 'text', payload: { text: 'old' } }] } } },
    ])
    await ann.say(text('newest'))
    expect((await list())[0]).toMatchObject({ id: ann.conversationId, lastMessage: { payload: text('newest') } })
    for (const { stream } of [ann, same, next]) await stream.close()
  })

  test('has its newest 100 messages in the first frame, and the earlier ones in pages behind its token', async () => {
    const ann = await visit(url)
    for (let number = 1; number <= 102; number++) await ann.say(text(`${number}`))
    const { key, conversationId } = ann
    const { init, stream } = await visit(url, { key, conversationId })
    expect(init.messages).toHaveLength(100)
    const path = `/conversations/${conversationId}/messages`
    const { body } = await ann.ask('GET', `${path}?nextToken=${init.meta.nextToken}`)
    expect(payloads(body.messages)).toEqual([text('2'), text('1')])
    expect(body.meta).toEqual({})
    expect(await ann.ask('GET', `${path}?nextToken=another`)).toMatchObject({ status: 400 })
    for (const open of [ann.stream, stream]) await open.close()
  })

  test('has messages in the form of the web chat, also in its first frame', async () => {
    const ann = await visit(url)
    await ann.say(text('types'))
    const expected = [
      { type: 'carousel', items: [{ title: 'A', actions: [] }] },
      { type: 'bloc', items: [{ type: 'text', payload: { text: 'in a bloc' } }] },
      { type: 'custom', url: 'https://example.com/part.js', name: 'part' },
    ]
    expect(payloads((await ann.heard(4)).slice(1).map(({ data }) => data))).toEqual(expected)
    const { key, conversationId } = ann
    const back = await visit(url, { key, conversationId })
    expect(payloads(back.init.messages.slice(0, 3).toReversed())).toEqual(expected)
    const { body } = await ann.ask('GET', `/conversations/${conversationId}/messages?pageSize=3`)
    expect(payloads(body.messages.toReversed())).toEqual(expected)
    for (const { stream } of [ann, back]) await stream.close()
  })

  test('shows a streamed message as one that is updated, and the finished message in its place', async () => {
    const ann = await visit(url)
    const begin = performance.now()
    await ann.say(text('stream'))
    // Its first part can overtake the visitor’s own message, and its last update can have the whole text already.
    const written = () => ann.stream.frames().filter(({ data }) => data.userId === bot.id)
    await expect.poll(() => written().at(-1)?.data.id, { timeout: 10_000 }).toMatch(/^msg_/)
    const milliseconds = performance.now() - begin
    const whole = Array.from({ length: 40 }, (_, part) => `${part} `).join('')
    const [first, ...updates] = written()
    expect(first).toMatchObject({ type: 'message_created', data: { payload: text('0 ') } })
    const { clientMessageId } = first!.data.metadata
    for (const { type, data } of updates) {
      expect({ type, clientMessageId: data.metadata.clientMessageId }).toEqual({
        type: 'message_updated',
        clientMessageId,
      })
      expect(whole.startsWith(data.payload.text)).toBe(true)
    }
    expect(updates.at(-1)!.data).toMatchObject({ id: expect.stringMatching(/^msg_/), payload: text(whole) })
    // Throttled: one each 100 ms at the most, and the finished message.
    expect(updates.length).toBeLessThanOrEqual(milliseconds / 100 + 1)
    await ann.stream.close()
  })

  test('a visitor who comes in the middle of a streamed message sees that the bot writes, and then the message', async () => {
    const ann = await visit(url)
    await ann.say(text('stream slowly'))
    const isBegun = () => ann.stream.frames().some(({ data }) => data.payload?.text?.startsWith('0 1 2 '))
    await expect.poll(isBegun, { timeout: 10_000, interval: 10 }).toBe(true)
    const { key, conversationId } = ann
    const { stream } = await visit(url, { key, conversationId })
    const ofBot = () => stream.frames().filter(({ type, data }) => type === 'typing_started' || data.userId === bot.id)
    await expect.poll(() => ofBot().at(-1)?.data.id, { timeout: 10_000 }).toMatch(/^msg_/)
    expect(ofBot()[0]).toEqual({ type: 'typing_started', data: {} })
    expect(ofBot().filter(({ type }) => type.startsWith('message'))).toHaveLength(1)
    for (const open of [ann.stream, stream]) await open.close()
  })

  test('has a frame for a deleted message', async () => {
    const ann = await visit(url)
    await ann.start()
    const [welcome] = await ann.heard(1)
    await platform.ask('DELETE', `/v1/chat/messages/${welcome!.data.id}`, undefined, { 'x-bot-id': bot.id })
    expect((await ann.heard(2))[1]).toEqual({ type: 'message_deleted', data: { id: welcome!.data.id } })
    await ann.stream.close()
  })

  test('has feedback on messages of the bot, which comes back and which the bot reads as tags', async () => {
    const ann = await visit(url)
    await ann.start()
    const [welcome] = await ann.heard(1)
    const path = `/messages/${welcome!.data.id}/feedback`
    expect(await ann.ask('PUT', path, { value: 'negative', comment: 'rude' })).toMatchObject({ status: 200, body: {} })
    const { key, conversationId } = ann
    const shown = async () => {
      const { init, stream } = await visit(url, { key, conversationId })
      await stream.close()
      return init.messages[0].feedback
    }
    expect(await shown()).toEqual({ value: 'negative', comment: 'rude' })
    const { body } = await platform.ask('GET', `/v1/chat/messages/${welcome!.data.id}`, undefined, {
      'x-bot-id': bot.id,
    })
    expect(body.message.tags).toMatchObject({ 'webchat:feedback': 'negative' })
    await ann.ask('DELETE', path)
    expect(await shown()).toBeUndefined()
    const { body: own } = await ann.say(text('mine'))
    const stranger = await visit(url)
    expect((await ann.ask('PUT', `/messages/${own.message.id}/feedback`, { value: 'positive' })).status).toBe(404)
    expect((await stranger.ask('PUT', path, { value: 'positive' })).status).toBe(404)
    expect(await ann.ask('PUT', path, { value: 'great' })).toMatchObject(invalid)
    for (const { stream } of [ann, stranger]) await stream.close()
  })

  test('reaches other clients by the Chat API, from the position that they name', async () => {
    const ann = await visit(url)
    const { body } = await ann.say(text('here'))
    const stream = await listen(url, ann.key, ann.conversationId, { lastEventId: '1' })
    await expect.poll(() => stream.frames().map(({ data }) => data.id)).toContain(body.message.id)
    expect(stream.ids()).not.toEqual([])
    await stream.close()
    await ann.stream.close()
  })
})

/** Calls an action of the web chat as the bot. */
const act = (name: string, input: object) =>
  platform.ask('POST', '/v1/chat/actions', { type: `webchat:${name}`, input }, { 'x-bot-id': bot.id })

/** The frames of a stream that are neither its first one nor messages. */
const heard = (listener: EventStream) =>
  listener.frames().filter(({ type }) => type !== 'init' && type !== 'message_created')

describe('actions of the web chat', () => {
  test('reach the open web chats of a conversation; listeners of the Chat API get typing and events', async () => {
    const ann = await visit(url)
    const { conversationId } = ann
    const other = await openStream(`${url}/conversations/${conversationId}/listen`, { 'x-user-key': ann.key })
    const calls = [
      ['startTypingIndicator', { messageId: 'msg', timeout: 3000 }, 'typing_started', { timeout: 3000 }],
      ['stopTypingIndicator', {}, 'typing_stopped', {}],
      ['showWebchat', {}, 'webchat_visibility', { visibility: 'show' }],
      ['hideWebchat', {}, 'webchat_visibility', { visibility: 'hide' }],
      ['toggleWebchat', {}, 'webchat_visibility', { visibility: 'toggle' }],
      ['configWebchat', { config: '{"botName":"Bob"}' }, 'webchat_config', { config: { botName: 'Bob' } }],
      ['customEvent', { event: '{"open":"cart"}' }, 'custom', { event: { open: 'cart' } }],
    ] as const
    for (const [name, input] of calls) {
      expect(await act(name, { conversationId, ...input })).toMatchObject({ status: 200, body: { output: {} } })
    }
    expect(await ann.heard(calls.length)).toEqual(calls.map(([, , type, data]) => ({ type, data })))
    await expect
      .poll(() => other.frames().map(({ type }) => type))
      .toEqual(['typing_started', 'typing_stopped', 'event_created'])
    for (const stream of [ann.stream, other]) await stream.close()
  })

  test('know the data of a page about a visitor, and make users for people who answer', async () => {
    const ann = await visit(url)
    await ann.ask('PUT', '/users/me', { userData: { plan: 'free' } })
    const { body } = await act('getUserData', { userId: ann.init.user.id })
    expect(body.output).toEqual({ userData: { plan: 'free' } })
    const agent = { name: 'Eve', email: 'eve@example.com', user: { id: 'ann', conversationId: ann.conversationId } }
    const ids = [(await act('getOrCreateUser', agent)).body.output, (await act('getOrCreateUser', agent)).body.output]
    expect(ids).toEqual([{ userId: expect.stringMatching(/^user_/) }, ids[0]])
    const { conversationId } = ann
    const say = (userId: string) => {
      const message = { conversationId, type: 'text', payload: { text: 'Hi', userId }, tags: {}, userId: bot.id }
      return platform.ask('POST', '/v1/chat/messages', message, { 'x-bot-id': bot.id })
    }
    // A bot does not write as a visitor, and not as a person who is no participant.
    const absent = { name: 'Bob', user: { id: 'bob' } }
    const { userId: bob } = (await act('getOrCreateUser', absent)).body.output as { userId: string }
    for (const userId of [ids[0].userId, ann.init.user.id, bob]) expect((await say(userId)).status).toBe(201)
    const spoken = async () => (await ann.heard(3)).filter(({ type }) => type === 'message_created')
    await expect
      .poll(async () => (await spoken()).map(({ data }) => data.userId))
      .toEqual([ids[0].userId, bot.id, bot.id])
    const again = await visit(url, { key: ann.key, conversationId })
    expect(again.init.participants).toContainEqual(expect.objectContaining({ id: ids[0].userId, name: 'Eve' }))
    for (const { stream } of [ann, again]) await stream.close()
  })

  test('name participants who enter and leave to open web chats; listeners of the Chat API learn nothing of handovers', async () => {
    const ann = await visit(url)
    const { conversationId } = ann
    const other = await openStream(`${url}/conversations/${conversationId}/listen`, { 'x-user-key': ann.key })
    const member = await createMember(platform, 'agent', platform.workspaceId)
    const path = `/v1/chat/conversations/${conversationId}`
    const asBot = { 'x-bot-id': bot.id }
    await platform.ask('POST', `${path}/handover`, {}, asBot)
    const here = `/v1/admin/bots/${bot.id}/conversations/${conversationId}/handover`
    const { handover } = (await platform.ask('POST', here, {}, member)).body
    const until = async (count: number) => {
      await expect.poll(() => heard(ann.stream).length, { timeout: 10_000 }).toBe(count)
    }
    await until(2)
    const participant = heard(ann.stream).find(({ type }) => type === 'participant_added')!.data.participant
    expect(participant).toMatchObject({ name: 'agent', joinedAt: expect.any(String) })
    const taken = { id: handover.id, userId: participant.id, assignedAt: expect.any(String) }
    expect(heard(ann.stream)).toContainEqual({ type: 'handover_changed', data: { handover: taken } })
    await platform.ask('DELETE', `${path}/handover`, undefined, asBot)
    await until(3)
    await platform.ask('DELETE', `${path}/participants/${participant.id}`, undefined, asBot)
    await until(4)
    expect(heard(ann.stream).slice(2)).toEqual([
      { type: 'handover_changed', data: { handover: { ...taken, endedAt: expect.any(String) } } },
      { type: 'participant_removed', data: { participantId: participant.id } },
    ])
    await expect.poll(() => heard(other).map(({ type }) => type)).toEqual(['participant_added', 'participant_removed'])
    const { init, stream } = await visit(url, { key: ann.key, conversationId })
    expect(init).toMatchObject({ handovers: [{ id: handover.id, endedAt: expect.any(String) }] })
    for (const open of [ann.stream, other, stream]) await open.close()
  })

  test('are refused for other conversations, for input that is none, and where there is no web chat', async () => {
    const { id } = await platform.createBot()
    const ann = await visit(url)
    const { conversationId } = ann
    const { body: made } = await platform.ask(
      'POST',
      '/v1/chat/conversations',
      { channel: 'channel', tags: {} },
      { 'x-bot-id': bot.id },
    )
    const missing = { status: 400, body: { type: 'ReferenceNotFound' } }
    expect(await act('showWebchat', { conversationId: made.conversation.id })).toMatchObject(missing)
    expect(await act('noSuchAction', {})).toMatchObject(missing)
    for (const config of ['no JSON', '[]']) {
      expect(await act('configWebchat', { conversationId, config })).toMatchObject(invalid)
    }
    const call = { type: 'webchat:showWebchat', input: { conversationId } }
    expect(await platform.ask('POST', '/v1/chat/actions', call, { 'x-bot-id': id })).toMatchObject(missing)
    await ann.stream.close()
  })
})

describe('a visitor', () => {
  test('stores a name and data that the page gives, unverified', async () => {
    const ann = await visit(url)
    const userData = { plan: 'free', seats: 3 }
    const { body } = await ann.ask('PUT', '/users/me', {
      name: 'Ann',
      pictureUrl: 'https://example.com/a.png',
      userData,
    })
    expect(body.user).toMatchObject({ id: ann.init.user.id, name: 'Ann', userData })
    expect((await ann.ask('GET', '/users/me')).body.user).toEqual(body.user)
    expect(await ann.ask('PUT', '/users/me', { userData: { text: 'x'.repeat(10_000) } })).toMatchObject(invalid)
    await ann.stream.close()
  })

  test('is replaced by a new one when the key is forged, foreign, or that of a deleted user', async () => {
    const ann = await visit(url)
    const elsewhere = await visit(await installWebchat(platform, (await platform.createBot()).id))
    const deleted = await visit(url)
    await platform.ask('DELETE', `/v1/chat/users/${deleted.init.user.id}`, undefined, { 'x-bot-id': bot.id })
    const [header, payload] = ann.key.split('.')
    for (const key of ['nonsense', `${header}.${payload}.AAAA`, elsewhere.key, deleted.key]) {
      const { conversationId } = ann
      const visitor = await visit(url, { key, conversationId })
      expect(visitor.init.user.id).not.toBe(ann.init.user.id)
      expect(visitor.conversationId).not.toBe(conversationId)
      await visitor.stream.close()
      const other = key === deleted.key ? 404 : 401
      expect((await send('GET', `${url}/conversations`, undefined, { 'x-user-key': key })).status).toBe(other)
    }
    for (const { stream } of [ann, elsewhere, deleted]) await stream.close()
  })

  test('cannot read or write in a conversation of another, nor send code for a page', async () => {
    const [ann, ben] = [await visit(url), await visit(url)]
    const { conversationId } = ann
    expect(await ben.ask('POST', '/messages', { conversationId, payload: text('hi') })).toMatchObject(forbidden)
    for (const type of ['conversation_started', 'custom']) {
      expect(await ben.ask('POST', '/events', { conversationId, payload: { type, data: {} } })).toMatchObject(forbidden)
    }
    expect((await ben.ask('GET', `/conversations/${conversationId}/listen`)).status).toBe(403)
    expect(await ben.ask('GET', `/conversations/${conversationId}/messages`)).toMatchObject(forbidden)
    expect((await visit(url, { key: ben.key, conversationId })).conversationId).toBe(ben.conversationId)
    for (const payload of [
      { type: 'custom', url: 'https://evil.example/x.js', name: 'x' },
      { type: 'bloc', items: [{ type: 'custom', payload: { url: 'https://evil.example/x.js', name: 'x' } }] },
      { type: 'unknown' },
    ]) {
      expect(await ann.say(payload)).toMatchObject(invalid)
    }
    for (const { stream } of [ann, ben]) await stream.close()
  })
})

describe('a site that signs keys', () => {
  const encryptionKey = 'the site’s own secret'
  let signed: string
  beforeAll(async () => {
    signed = await installWebchat(platform, (await platform.createBot(code)).id, { encryptionKey })
  })
  const sign = async (seconds: number | undefined, secret = encryptionKey) => {
    const token = new SignJWT({ id: 'ann' }).setProtectedHeader({ alg: 'HS256' })
    if (seconds !== undefined) token.setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    return token.sign(new TextEncoder().encode(secret))
  }
  const initialize = (key?: string) =>
    send('GET', `${signed}/initialize`, undefined, key === undefined ? {} : { 'x-user-key': key })

  test('admits visitors with its keys alone, and only with keys that expire', async () => {
    for (const key of [undefined, await sign(60, 'another'), await sign(-60), await sign(undefined)]) {
      expect(await initialize(key)).toMatchObject(unauthorized)
    }
    const ann = await visit(signed, { key: await sign(60) })
    expect(ann.init.user).toMatchObject({ id: 'ann' })
    await ann.say(text('hi'), { clientMessageId: 'one' })
    expect(await ann.heard(2)).toMatchObject([{ type: 'message_status_changed' }, { data: { userId: 'ann' } }])
    const endless = { 'x-user-key': await sign(undefined) }
    expect(await send('GET', `${signed}/users/me`, undefined, endless)).toMatchObject(unauthorized)
    const elsewhere = await visit(signed, { key: await sign(60), conversationId: ann.conversationId })
    expect(elsewhere.init.messages).toHaveLength(1)
    for (const { stream } of [ann, elsewhere]) await stream.close()
  })
})

describe('origins', () => {
  const origin = 'https://www.example.com'
  let closed: string
  beforeAll(async () => {
    closed = await installWebchat(platform, (await platform.createBot(code)).id, {
      allowedOrigins: ['https://WWW.example.com:443'],
    })
  })

  test('of pages that may use the web chat are those of its configuration, and the platform’s own', async () => {
    const ann = await visit(closed, { origin })
    const ask = (from: string | undefined, method = 'GET', path = '/conversations', body?: object) =>
      send(method, `${closed}${path}`, body, { 'x-user-key': ann.key, origin: from })
    for (const from of [origin, platform.url, undefined]) expect((await ask(from)).status).toBe(200)
    const message = { conversationId: ann.conversationId, payload: text('hi') }
    for (const from of [
      'https://evil.example',
      'https://www.example.com.evil.example',
      'http://www.example.com',
      'null',
    ]) {
      expect(await ask(from)).toMatchObject(forbidden)
      expect(await ask(from, 'POST', '/messages', message)).toMatchObject(forbidden)
      expect(await ask(from, 'GET', '/initialize')).toMatchObject(forbidden)
      expect(await ask(from, 'GET', `/conversations/${ann.conversationId}/listen`)).toMatchObject(forbidden)
    }
    await ann.stream.close()
  })

  test('are required of elements of other pages, which send none', async () => {
    const sites = ['cross-site', 'same-site', 'same-origin', 'none', undefined]
    const statuses = []
    for (const site of sites) {
      const response = await fetch(`${closed}/initialize`, { headers: { ...(site && { 'sec-fetch-site': site }) } })
      await response.body!.cancel()
      statuses.push(response.status)
    }
    expect(statuses).toEqual([403, 403, 200, 200, 200])
  })

  test('are answered as browsers ask, with any headers of the page', async () => {
    const headers = {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'x-user-key,timeout,x-own',
    }
    const answer = await fetch(`${closed}/users/me`, { method: 'OPTIONS', headers })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-headers')).toContain('x-own')
    expect(answer.headers.get('access-control-allow-methods')).toContain('PUT')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  })
})

test('visitors without a key are counted by address, and no header of theirs changes it; those with a key are not', async () => {
  await using own = await openPlatform({
    backEnd: 'postgres',
    worker: false,
    environment: { WEBCHAT_RATE_LIMIT_VISITOR: '3' },
  })
  const address = await installWebchat(own, (await own.createBot()).id)
  const ann = await visit(address)
  await ann.stream.close()
  const statuses = []
  for (const key of ['', 'forged', 'fo.rg.ed']) {
    const response = await fetch(`${address}/initialize`, { headers: { 'x-user-key': key } })
    await response.body!.cancel()
    statuses.push(response.status)
  }
  expect(statuses).toEqual([200, 200, 429])
  expect((await ann.ask('GET', '/conversations')).status).toBe(200)
  const from = async (forwarded: string) => {
    const response = await fetch(`${address}/initialize`, { headers: { 'x-forwarded-for': forwarded } })
    await response.body!.cancel()
    return response.status
  }
  // The router at a private address appends the address that it saw.
  expect(await from('203.0.113.7')).toBe(200)
  const networks = ['2001:db8::1', '2001:db8:0:0:1::2', '198.51.100.1, 2001:db8::3', '2001:db8::4', '2001:db8:0:1::1']
  const answers = []
  for (const network of networks) answers.push(await from(network))
  expect(answers).toEqual([200, 200, 200, 429, 200])
  expect(await own.context.db('users').whereNotNull('installation_id')).toHaveLength(8)
  const opens = async (forwarded: string) => {
    const headers = { 'x-forwarded-for': forwarded }
    const socket = new WebSocket(`${address.replace(/^http/, 'ws')}/initialize`, { headers })
    const [, answer] = await Promise.race([
      once(socket, 'open').then(() => [undefined, undefined]),
      once(socket, 'unexpected-response'),
    ])
    socket.terminate()
    return answer?.statusCode ?? 101
  }
  const sockets = []
  for (const network of [...networks.slice(0, 2), '203.0.113.8', '192.0.2.1, 203.0.113.8', '203.0.113.8, 10.0.0.1']) {
    sockets.push(await opens(network))
  }
  expect(sockets).toEqual([429, 429, 101, 101, 101])
  expect(await opens('203.0.113.8')).toBe(429)
})
