import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../../support/platform.ts'
import { ownId, setScene, signKey, type Scene } from './fixture.ts'
import { call, essence, refusal } from './wire.ts'

let platform: Platform
let scene: Scene
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  scene = await setScene(platform)
})

describe('a user who was deleted', () => {
  beforeEach(async () => {
    await scene.ask('guest', 'deleteUser')
  })

  test('takes part no more, and what was said stays', async () => {
    expect(essence(await scene.guest.say('talk', 'still'))).toEqual(refusal(404, 'ResourceNotFound'))
    const { participants } = (await scene.ask('owner', 'listParticipants', { conversationId: 'talk' })).body
    expect(participants.map(({ id }: { id: string }) => id)).toEqual(['owner'])
    expect((await scene.owner.heard('talk')).map(({ text }) => text)).toEqual(['hello', 'hello yourself'])
  })

  test('leaves an id that is free again', async () => {
    const answer = await scene.ask('nobody', 'createUser', { id: 'guest' })
    expect(answer).toMatchObject({ status: 201, body: { user: { id: 'guest' } } })
  })

  test('leaves a key that is of no use to the next user of the id, and good for nobody', async () => {
    await scene.ask('nobody', 'createUser', { id: 'guest' })
    for (const operation of ['getUser', 'getOrCreateUser', 'deleteUser', 'createConversation'] as const) {
      expect(essence(await scene.ask('guest', operation))).toEqual(refusal(404, 'ResourceNotFound'))
    }
  })

  test('leaves a key that creates the user anew, who takes part in nothing', async () => {
    expect(await scene.ask('guest', 'getOrCreateUser')).toMatchObject({ status: 201, body: { user: { id: 'guest' } } })
    expect((await scene.ask('guest', 'getUser')).status).toBe(200)
    expect(essence(await scene.guest.say('talk', 'again'))).toEqual(refusal(403, 'Forbidden'))
  })
})

test('a deleted user whom we named is created anew under that name', async () => {
  const { body } = await scene.ask('nobody', 'createUser')
  const { key } = body
  await call(scene.bot.chatUrl, 'deleteUser', key, {})
  const again = await call(scene.bot.chatUrl, 'getOrCreateUser', key, {})
  expect(again).toMatchObject({ status: 201, body: { user: { id: body.user.id } } })
})

describe('a conversation that was deleted', () => {
  beforeEach(async () => {
    await scene.ask('owner', 'deleteConversation', { id: 'talk' })
  })

  test('is gone for everybody, with what was said and done in it', async () => {
    for (const [operation, given] of [
      ['getConversation', { id: 'talk' }],
      ['getConversation', { id: scene.talk }],
      ['getMessage', { id: scene.message }],
      ['getMessage', { id: scene.botMessage }],
      ['getEvent', { id: scene.event }],
    ] as const) {
      expect(essence(await scene.ask('guest', operation, given))).toEqual(refusal(404, 'ResourceNotFound'))
    }
    expect((await scene.ask('owner', 'listConversations')).body).toEqual({ conversations: [], meta: {} })
  })

  test('leaves an id that anybody may take', async () => {
    expect(await scene.stranger.createConversation('talk')).toBe('talk')
    expect(await ownId(platform, 'conversations', scene.bot, 'talk')).not.toBe(scene.talk)
    expect((await scene.ask('stranger', 'listMessages', { conversationId: 'talk' })).body.messages).toEqual([])
  })
})

test('a deleted message is gone for everybody', async () => {
  await scene.ask('guest', 'deleteMessage', { id: scene.message })
  for (const person of ['guest', 'owner'] as const) {
    const answer = await scene.ask(person, 'getMessage', { id: scene.message })
    expect(essence(answer)).toEqual(refusal(404, 'ResourceNotFound'))
  }
  expect((await scene.owner.heard('talk')).map(({ text }) => text)).toEqual(['hello yourself'])
})

test('an author who is known by our own id may delete too', async () => {
  const key = await signKey(platform, scene.bot, { id: await ownId(platform, 'users', scene.bot, 'guest') })
  const answer = await call(scene.bot.chatUrl, 'deleteMessage', key, { id: scene.message })
  expect(essence(answer)).toEqual({ status: 200, body: {} })
})
