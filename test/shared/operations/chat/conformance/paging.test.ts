import { Client, InvalidQueryError } from '@botpress/chat'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createChatUser } from '../../../../support/chat-client.ts'
import { openPlatform, type Platform } from '../../../../support/platform.ts'
import { openFixture, type Fixture } from './fixture.ts'
import { call, comparable, refusal } from './wire.ts'

let platform: Platform
let fixture: Fixture
let conversationId: string
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  fixture = await openFixture(platform)
  conversationId = await fixture.stranger.createConversation('empty')
})

/** The lists, each with how one element more comes into it. They begin with what the scene has, at the end. */
const lists = {
  conversations: { operation: 'listConversations', add: () => fixture.stranger.createConversation(), first: 'empty' },
  messages: {
    operation: 'listMessages',
    add: async () => (await fixture.stranger.send('empty', 'hi')).body.message.id as string,
    first: undefined,
  },
  participants: {
    operation: 'listParticipants',
    async add() {
      const { userId } = await createChatUser(fixture.bot.chatUrl)
      await fixture.ask('stranger', 'addParticipant', { conversationId, userId })
      return userId
    },
    first: 'stranger',
  },
} as const

describe.each(['conversations', 'messages', 'participants'] as const)('the list of %s', (kind) => {
  const { operation, add, first } = lists[kind]
  const page = (query = {}) =>
    call(fixture.bot.chatUrl, operation, fixture.stranger.key, {
      ...(kind !== 'conversations' && { conversationId }),
      ...query,
    })
  /** Fills the list to so many elements. */
  async function fill(count: number): Promise<string[]> {
    const ids = first === undefined ? [] : [first as string]
    while (ids.length < count) ids.push(await add())
    return ids
  }
  const ids = (body: Record<string, { id: string }[]>) => body[kind]!.map(({ id }) => id)

  test('comes newest first, in pages of 20 that lose and repeat nothing', async () => {
    const added = await fill(43)
    const pages: string[][] = []
    let meta: { nextToken?: string } = {}
    do {
      const { status, body } = await page(meta)
      expect(status).toBe(200)
      expect(Object.keys(body).toSorted()).toEqual([kind, 'meta'].toSorted())
      pages.push(ids(body))
      meta = body.meta
    } while (meta.nextToken)
    expect(meta).toEqual({})
    expect(pages.map(({ length }) => length)).toEqual([20, 20, 3])
    expect(pages.flat()).toEqual(added.toReversed())
  })

  test('ends with a page that is just full', async () => {
    await fill(20)
    const { body } = await page()
    expect(ids(body)).toHaveLength(20)
    expect(body.meta).toEqual({})
  })

  test('continues at its position when rows are added meanwhile', async () => {
    const added = await fill(22)
    const { meta } = (await page()).body
    await add()
    expect(ids((await page(meta)).body)).toEqual(added.slice(0, 2).toReversed())
  })

  test('is collected by the published client', async () => {
    const added = await fill(22)
    const client = await Client.connect({ apiUrl: fixture.bot.chatUrl, userKey: fixture.stranger.key })
    const collected: { id: string }[] = await client.list[kind]({ conversationId }).collect()
    expect(collected.map(({ id }) => id)).toEqual(added.toReversed())
  })

  const distant = Buffer.from('-8000000000000000 a').toString('base64url')
  const unstorable = Buffer.from('1795269266921 a\0b').toString('base64url')
  test.each(['forged', 'a b+/=', '%00', distant, unstorable, 'x'.repeat(300)])(
    'refuses the token %j',
    async (nextToken) => {
      expect(comparable(await page({ nextToken }))).toEqual(refusal(400, 'InvalidQuery'))
      const client = await Client.connect({ apiUrl: fixture.bot.chatUrl, userKey: fixture.stranger.key })
      await expect(client[operation]({ conversationId, nextToken })).rejects.toBeInstanceOf(InvalidQueryError)
    },
  )
})

test('the times of messages that are written at once strictly increase, to the millisecond', async () => {
  await Promise.all(Array.from({ length: 45 }, (_, index) => fixture.stranger.send('empty', String(index))))
  const times = (await fixture.stranger.messages('empty')).map(({ createdAt }) => Date.parse(createdAt))
  expect(times).toHaveLength(45)
  expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b))
})
