import { Client, type Signals } from '@botpress/chat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatter, type Chatter } from '../chatter.ts'
import { endedEvents } from '../outcomes.ts'
import { backEnds, openPlatform, send, type DeployedBot, type Platform } from '../platform.ts'

let platform: Platform
let bot: DeployedBot
let owner: Chatter
let other: Chatter
beforeAll(async () => {
  platform = await openPlatform()
  bot = await platform.createBot()
  owner = await createChatter(bot.chatUrl, { id: 'owner', name: 'Owner' })
  other = await createChatter(bot.chatUrl, { id: 'other', name: 'Other' })
})
afterAll(() => platform[Symbol.asyncDispose]())

const forbidden = { status: 403, body: { type: 'Forbidden' } }
const notFound = { status: 404, body: { type: 'ResourceNotFound' } }

describe('a user', () => {
  test('is updated where fields are given', async () => {
    const user = await createChatter(bot.chatUrl, { name: 'Old', profile: 'kept' })
    expect(await user.ask('PUT', '/users/me', { name: 'New' })).toMatchObject({
      status: 200,
      body: { user: { id: user.userId, name: 'New', profile: 'kept' } },
    })
    expect(await user.ask('PUT', '/users/me', { name: null })).toMatchObject({ status: 400 })
  })

  test('is gone after deletion, what was said stays, and the id is free again', async () => {
    const user = await createChatter(bot.chatUrl, { id: 'passing-by' })
    const conversationId = await owner.createConversation()
    await owner.ask('POST', `/conversations/${conversationId}/participants`, { userId: 'passing-by' })
    await user.say(conversationId, 'I was here')
    expect(await user.ask('DELETE', '/users/me', {})).toMatchObject({ status: 200, body: {} })
    for (const [method, path, body] of [
      ['GET', '/users/me'],
      ['PUT', '/users/me', {}],
      ['DELETE', '/users/me', {}],
      ['POST', '/conversations', {}],
    ] as const) {
      expect(await user.ask(method, path, body)).toMatchObject(notFound)
    }
    expect(await user.say(conversationId, 'still')).toMatchObject(forbidden)
    expect((await owner.heard(conversationId)).map(({ text }) => text)).toEqual(['I was here'])
    expect(await send('POST', `${bot.chatUrl}/users`, { id: 'passing-by' })).toMatchObject({ status: 201 })
  })
})

describe('conversations', () => {
  test('are listed to their owner alone, newest first, page by page', async () => {
    const user = await createChatter(bot.chatUrl)
    const ids: string[] = []
    for (let count = 0; count < 22; count++) ids.push(await user.createConversation(count === 0 ? 'listed' : undefined))
    const foreign = await owner.createConversation()
    await owner.ask('POST', `/conversations/${foreign}/participants`, { userId: user.userId })
    const first = await user.ask('GET', '/conversations')
    const second = await user.ask('GET', `/conversations?nextToken=${first.body.meta.nextToken}`)
    const listed = [...first.body.conversations, ...second.body.conversations]
    expect(listed.map(({ id }) => id)).toEqual(ids.toReversed())
    expect(second.body.meta).toEqual({})
    expect(Object.keys(listed[0]).toSorted()).toEqual(['createdAt', 'id', 'updatedAt'])
  })

  test('are deleted by their owner, with what waits in them, and their ids are free again', async () => {
    const conversationId = await owner.createConversation('short-lived')
    await owner.ask('POST', `/conversations/${conversationId}/participants`, { userId: 'other' })
    const { body } = await owner.say(conversationId, 'hello')
    expect(await other.ask('DELETE', `/conversations/${conversationId}`, {})).toMatchObject(forbidden)
    expect(await other.ask('DELETE', '/conversations/none', {})).toMatchObject(notFound)
    await endedEvents(platform, bot.id, 1)
    expect(await owner.ask('DELETE', `/conversations/${conversationId}`, {})).toMatchObject({ status: 200, body: {} })
    expect(await owner.ask('GET', `/conversations/${conversationId}`)).toMatchObject(notFound)
    expect(await owner.ask('GET', `/messages/${body.message.id}`)).toMatchObject(notFound)
    expect(await other.createConversation('short-lived')).toBe('short-lived')
  })
})

describe('participants', () => {
  test('are added and looked up by the owner alone', async () => {
    const conversationId = await owner.createConversation()
    const path = `/conversations/${conversationId}/participants`
    expect(await other.ask('POST', path, { userId: 'other' })).toMatchObject(forbidden)
    expect(await owner.ask('POST', path, { userId: 'nobody' })).toMatchObject(notFound)
    expect(await owner.ask('POST', '/conversations/none/participants', { userId: 'other' })).toMatchObject(notFound)
    expect(await owner.ask('POST', path, {})).toMatchObject({ status: 400 })
    expect(await owner.ask('GET', `${path}/other`)).toMatchObject(notFound)
    for (let twice = 0; twice < 2; twice++) {
      expect(await owner.ask('POST', path, { userId: 'other' })).toMatchObject({
        status: 200,
        body: { participant: { id: 'other', name: 'Other' } },
      })
    }
    expect(await owner.ask('GET', `${path}/other`)).toMatchObject({
      status: 200,
      body: { participant: { id: 'other' } },
    })
    expect(await other.ask('GET', `${path}/other`)).toMatchObject(forbidden)
    expect((await other.ask('GET', path)).body.participants.map(({ id }: { id: string }) => id)).toEqual([
      'other',
      'owner',
    ])
  })

  test('are removed by the owner alone, who cannot be removed', async () => {
    const conversationId = await owner.createConversation()
    const path = `/conversations/${conversationId}/participants`
    await owner.ask('POST', path, { userId: 'other' })
    expect(await other.ask('DELETE', `${path}/other`, {})).toMatchObject(forbidden)
    expect(await owner.ask('DELETE', `${path}/owner`, {})).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload' },
    })
    expect(await owner.ask('DELETE', `${path}/nobody`, {})).toMatchObject(notFound)
    expect(await owner.ask('DELETE', `${path}/other`, {})).toMatchObject({ status: 200, body: {} })
    expect(await other.say(conversationId, 'am I still here?')).toMatchObject(forbidden)
  })
})

describe('messages', () => {
  test('are deleted by who wrote them alone', async () => {
    const conversationId = await owner.createConversation()
    await owner.ask('POST', `/conversations/${conversationId}/participants`, { userId: 'other' })
    const { body } = await other.say(conversationId, 'regretted')
    const path = `/messages/${body.message.id}`
    expect(await owner.ask('DELETE', path, {})).toMatchObject(forbidden)
    expect(await other.ask('DELETE', '/messages/none', {})).toMatchObject(notFound)
    expect(await other.ask('DELETE', path, {})).toMatchObject({ status: 200, body: {} })
    expect(await other.ask('GET', path)).toMatchObject(notFound)
  })

  test('of the bot cannot be deleted by anybody', async () => {
    const conversationId = await owner.createConversation()
    const said = { conversationId, type: 'text', payload: { text: 'mine' } }
    const { body } = await platform.ask('POST', '/v1/chat/messages', said, { 'x-bot-id': bot.id })
    expect(await owner.ask('DELETE', `/messages/${body.message.id}`, {})).toMatchObject(forbidden)
  })
})

describe.each(backEnds)('signals on %s', (backEnd) => {
  test('tell the listeners who came, who left and what was deleted; who is removed hears nothing more', async () => {
    await using own = await openPlatform({ backEnd, worker: false })
    const { chatUrl } = await own.createBot()
    const [host, guest] = await Promise.all([
      Client.connect({ apiUrl: chatUrl, userId: 'host' }),
      Client.connect({ apiUrl: chatUrl, userId: 'guest' }),
    ])
    const { conversation } = await host.createConversation({ id: 'party' })
    const listener = await host.listenConversation({ id: 'party' })
    const heard: [string, unknown][] = []
    for (const type of ['participant_added', 'participant_removed', 'message_deleted'] as const) {
      listener.on(type, (data: Signals[typeof type]) => heard.push([type, data]))
    }
    await host.addParticipant({ conversationId: 'party', userId: 'guest' })
    const guestListener = await guest.listenConversation({ id: 'party' })
    const guestHeard: unknown[] = []
    guestListener.on('participant_removed', (data) => guestHeard.push(data))
    guestListener.on('message_created', (data) => guestHeard.push(data))
    const ended = new Promise((resolve) => guestListener.on('error', resolve))

    const { message } = await host.createMessage({ conversationId: 'party', payload: { type: 'text', text: 'hi' } })
    await expect.poll(() => guestHeard).toHaveLength(1)
    await host.deleteMessage({ id: message.id })
    await host.removeParticipant({ conversationId: 'party', userId: 'guest' })
    await ended
    await host.createMessage({ conversationId: 'party', payload: { type: 'text', text: 'alone again' } })

    await expect.poll(() => heard).toHaveLength(3)
    expect(heard).toEqual([
      ['participant_added', { conversationId: conversation.id, participantId: 'guest' }],
      ['message_deleted', { id: message.id, conversationId: conversation.id, userId: 'host' }],
      ['participant_removed', { conversationId: conversation.id, participantId: 'guest' }],
    ])
    expect(guestHeard).toHaveLength(1)
    await listener.disconnect()
  })
})
