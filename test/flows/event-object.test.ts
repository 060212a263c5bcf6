import { Client } from '@botpress/client'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { eventObject } from '#shared/models/event-object.ts'
import { createChatUser } from '../support/chat-client.ts'
import { endedEvents } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'

/** The 15 properties of the event, in each of the four places of bot code that have it. */

/** Each place sends what it sees. The hook searches first, so that the event has found something. */
const seen = `JSON.stringify({ ...event, createdOn: event.createdOn instanceof Date ? event.createdOn : 'no Date' })`
const code = `
  const show = (event) => ${seen}
  const say = (client, event, text) =>
    client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
  const look = async ({ event, client }) => {
    if (event.preview === 'hi') return
    await client.searchFiles({ query: 'bakery', tags: { kbName: 'shop' } })
    await say(client, event, 'hook ' + show(event))
  }
  export const hooks = { afterIncomingMessage: look, afterIncomingEvent: look }
  export const actions = { look: async ({ event, client }) => { await say(client, event, 'action ' + show(event)); return {} } }`

const cards = [
  { id: 'action', type: 'action', action: 'look' },
  {
    id: 'code',
    type: 'code',
    code: `await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'code card ' + ${seen} } })`,
  },
  { id: 'field', type: 'say', message: `configuration field {{${seen}}}` },
]
const flows = [
  {
    id: 'main',
    start: 'first',
    nodes: [
      { id: 'first', cards: [{ id: 'ask', type: 'capture', message: '?', variable: 'workflow.x' }], next: 'look' },
      { id: 'look', cards },
    ],
  },
  {
    id: 'pressed',
    start: 'look',
    triggers: [{ id: 'pressed', event: 'chat:custom', filter: { $: 'event.payload.button === 7' } }],
    nodes: [{ id: 'look', cards }],
  },
]

/** The cards of the places. */
const cardOf = { action: 'action', 'code card': 'code', 'configuration field': 'field' }
const places = ['hook', ...Object.keys(cardOf)] as const

const parts = new AsyncDisposableStack()
const found = { message: new Map<string, object>(), trigger: new Map<string, object>() }
const ids = { bot: '', user: '', conversation: '', kb: '' }

beforeAll(async () => {
  const platform: Platform = parts.use(await openPlatform({ backEnd: 'postgres' }))
  const bot = await platform.createBot(code, { flows })
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  const { knowledgeBase } = await client.createKnowledgeBase({ name: 'shop' })
  const tags = { kbId: knowledgeBase.id, kbName: 'shop' }
  const { file } = await client.uploadFile({
    key: 'hours.md',
    content: 'The bakery opens at seven.',
    index: true,
    tags,
  })
  const isIndexed = async () => (await client.getFile({ id: file.id })).file.status === 'indexing_completed'
  await vi.waitUntil(isIndexed, { timeout: 30_000, interval: 20 })
  const user = await createChatUser(bot.chatUrl)
  const conversation = await user.createConversation()
  await client.updateUser({ id: user.userId, tags: { level: 'gold' } })
  await client.updateConversation({ id: conversation, tags: { topic: 'bread' } })
  Object.assign(ids, { bot: bot.id, user: user.userId, conversation, kb: knowledgeBase.id })
  const db = platform.context.db('messages').where({ conversation_id: conversation, direction: 'outgoing' })
  let handled = 0
  const collect = async (into: Map<string, object>) => {
    await endedEvents(platform, bot.id, ++handled)
    const texts = (await db.clone().orderBy(['created_at', 'id'])).map(({ payload }) => String(payload['text']))
    for (const text of texts) {
      const place = places.find((each) => text.startsWith(`${each} {`))
      if (place) into.set(place, JSON.parse(text.slice(place.length + 1)) as object)
    }
  }
  await user.send(conversation, 'hi')
  await collect(new Map())
  await user.send(conversation, 'look')
  await collect(found.message)
  await user.ask('POST', '/events', { conversationId: conversation, payload: { button: 7 } })
  await collect(found.trigger)
})
afterAll(() => parts.disposeAsync())

const id = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_`)) as unknown

/** The value of each property for a message, and for an event that has met a trigger; undefined: absent. */
const table: [property: string, ofMessage: () => unknown, ofTriggered: () => unknown][] = [
  ['botId', () => ids.bot, () => ids.bot],
  ['conversationId', () => ids.conversation, () => ids.conversation],
  ['createdOn', () => expect.stringMatching(/^\d{4}-/), () => expect.stringMatching(/^\d{4}-/)],
  ['direction', () => 'incoming', () => 'incoming'],
  ['id', () => id('evt'), () => id('evt')],
  ['integration', () => 'chat', () => 'chat'],
  ['kb', knowledge, knowledge],
  ['messageId', () => id('msg'), () => undefined],
  ['payload', () => ({ type: 'text', text: 'look' }), () => expect.objectContaining({ button: 7 })],
  ['preview', () => 'look', () => expect.any(String)],
  [
    'state',
    () => expect.objectContaining({ user: {}, bot: {}, temp: {} }),
    () => expect.objectContaining({ user: {} }),
  ],
  ['tags', () => expect.objectContaining(tags()), () => expect.objectContaining(tags())],
  [
    'trigger',
    () => undefined,
    () => ({
      flowId: 'pressed',
      nodeId: 'look',
      eventName: 'chat:custom',
      integration: 'chat',
      conversationId: ids.conversation,
      userId: ids.user,
    }),
  ],
  ['type', () => 'message_created', () => 'chat:custom'],
  ['userId', () => ids.user, () => ids.user],
]

function knowledge() {
  const result = expect.objectContaining({
    content: 'The bakery opens at seven.',
    dsFriendlyName: 'hours.md',
  }) as unknown
  return { included: [expect.objectContaining({ id: ids.kb, name: 'shop' }) as unknown], results: [result] }
}

const tags = () => ({
  user: expect.objectContaining({ level: 'gold' }) as unknown,
  conversation: expect.objectContaining({ topic: 'bread' }) as unknown,
})

describe.each(places)('in a %s', (place) => {
  test.each(table)('event.%s is there', (property, ofMessage, ofTriggered) => {
    for (const [seenThere, expected] of [
      [found.message.get(place), ofMessage()],
      [found.trigger.get(place), ofTriggered()],
    ] as const) {
      expect(seenThere).toBeDefined()
      expect((seenThere as Record<string, unknown>)[property]).toEqual(expected)
    }
  })

  test('event.state.context has the position of the conversation', () => {
    const [ofMessage, ofTriggered] = [found.message, found.trigger].map(
      (each) => (each.get(place) as { state: { context: object } }).state.context,
    )
    const currentCard = cardOf[place as keyof typeof cardOf]
    const previous = { previousFlow: 'main', previousNode: 'first' }
    // A hook sees where the conversation stood before the event.
    const before = [{ currentFlow: 'main', currentNode: 'first', currentCard: 'ask' }, {}]
    const within = [
      { currentFlow: 'main', currentNode: 'look', currentCard, ...previous },
      { currentFlow: 'pressed', currentNode: 'look', currentCard },
    ]
    expect([ofMessage, ofTriggered]).toEqual(place === 'hook' ? before : within)
  })
})

test('there are 15 of them, and no place has others', () => {
  const { properties } = eventObject
  const names = table.map(([property]) => property)
  expect(names).toHaveLength(15)
  expect(Object.keys(properties).toSorted()).toEqual(names.toSorted())
  const ajv = new Ajv({ formats: { 'date-time': true } })
  for (const events of Object.values(found)) {
    for (const event of events.values()) {
      ajv.validate(eventObject, event)
      expect(ajv.errorsText()).toBe('No errors')
    }
  }
})
