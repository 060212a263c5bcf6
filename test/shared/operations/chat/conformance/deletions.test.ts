import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../../support/platform.ts'
import { ownId, openFixture, signKey, type Fixture } from './fixture.ts'
import { call, comparable, refusal } from './wire.ts'

let platform: Platform
let fixture: Fixture
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  fixture = await openFixture(platform)
})

describe('a user who was deleted', () => {
  beforeEach(async () => {
    await fixture.ask('guest', 'deleteUser')
  })

  test('takes part no more, and what was said stays', async () => {
    expect(comparable(await fixture.guest.send('talk', 'still'))).toEqual(refusal(404, 'ResourceNotFound'))
    const { participants } = (await fixture.ask('owner', 'listParticipants', { conversationId: 'talk' })).body
    expect(participants.map(({ id }: { id: string }) => id)).toEqual(['owner'])
    expect((await fixture.owner.messages('talk')).map(({ text }) => text)).toEqual(['hello', 'hello yourself'])
  })

  test('leaves an id that is free again', async () => {
    const answer = await fixture.ask('nobody', 'createUser', { id: 'guest' })
    expect(answer).toMatchObject({ status: 201, body: { user: { id: 'guest' } } })
  })

  test('leaves a key that is of no use for the next user of the id', async () => {
    await fixture.ask('nobody', 'createUser', { id: 'guest' })
    for (const operation of ['getUser', 'getOrCreateUser', 'deleteUser', 'createConversation'] as const) {
      expect(comparable(await fixture.ask('guest', operation))).toEqual(refusal(404, 'ResourceNotFound'))
    }
  })

  test('leaves a key that creates the user anew, who takes part in nothing', async () => {
    expect(await fixture.ask('guest', 'getOrCreateUser')).toMatchObject({
      status: 201,
      body: { user: { id: 'guest' } },
    })
    expect((await fixture.ask('guest', 'getUser')).status).toBe(200)
    expect(comparable(await fixture.guest.send('talk', 'again'))).toEqual(refusal(403, 'Forbidden'))
  })
})

test('a deleted user whom we named is created anew under that name', async () => {
  const { body } = await fixture.ask('nobody', 'createUser')
  const { key } = body
  await call(fixture.bot.chatUrl, 'deleteUser', key, {})
  const again = await call(fixture.bot.chatUrl, 'getOrCreateUser', key, {})
  expect(again).toMatchObject({ status: 201, body: { user: { id: body.user.id } } })
})

describe('a conversation that was deleted', () => {
  beforeEach(async () => {
    await fixture.ask('owner', 'deleteConversation', { id: 'talk' })
  })

  test('is gone for everybody, with what was said and done in it', async () => {
    for (const [operation, given] of [
      ['getConversation', { id: 'talk' }],
      ['getConversation', { id: fixture.talk }],
      ['getMessage', { id: fixture.message }],
      ['getMessage', { id: fixture.botMessage }],
      ['getEvent', { id: fixture.event }],
    ] as const) {
      expect(comparable(await fixture.ask('guest', operation, given))).toEqual(refusal(404, 'ResourceNotFound'))
    }
    expect((await fixture.ask('owner', 'listConversations')).body).toEqual({ conversations: [], meta: {} })
  })

  test('leaves an id that anybody may take', async () => {
    expect(await fixture.stranger.createConversation('talk')).toBe('talk')
    expect(await ownId(platform, 'conversations', fixture.bot, 'talk')).not.toBe(fixture.talk)
    expect((await fixture.ask('stranger', 'listMessages', { conversationId: 'talk' })).body.messages).toEqual([])
  })
})

test('a deleted message is gone for everybody', async () => {
  await fixture.ask('guest', 'deleteMessage', { id: fixture.message })
  for (const person of ['guest', 'owner'] as const) {
    const answer = await fixture.ask(person, 'getMessage', { id: fixture.message })
    expect(comparable(answer)).toEqual(refusal(404, 'ResourceNotFound'))
  }
  expect((await fixture.owner.messages('talk')).map(({ text }) => text)).toEqual(['hello yourself'])
})

test('an author who is known by our own id may delete too', async () => {
  const key = await signKey(platform, fixture.bot, { id: await ownId(platform, 'users', fixture.bot, 'guest') })
  const answer = await call(fixture.bot.chatUrl, 'deleteMessage', key, { id: fixture.message })
  expect(comparable(answer)).toEqual({ status: 200, body: {} })
})
