import { Client, type SignalListener, type Signals } from '@botpress/chat'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../../support/platform.ts'
import { openFixture, type Fixture } from './fixture.ts'
import { refusal, time } from './wire.ts'
import { card, flat, invalid, valid } from './variants.ts'

let platform: Platform
let fixture: Fixture
let listener: SignalListener
const heard = new Map<string, Signals['message_created']>()
const unknown: unknown[] = []
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  fixture = await openFixture(platform)
  const client = await Client.connect({ apiUrl: fixture.bot.chatUrl, userKey: fixture.owner.key })
  listener = await client.listenConversation({ id: 'talk' })
  listener.on('message_created', (signal) => heard.set(signal.id, signal))
  listener.on('unknown', (signal) => unknown.push(signal))
})
afterAll(async () => {
  await listener.disconnect()
  await platform[Symbol.asyncDispose]()
})

/** Says something as the bot, and gives what clients list and hear of it. */
async function reply(type: string, payload: object) {
  const { status, body } = await fixture.reply(type, payload)
  expect({ status, body }).toMatchObject({ status: 201 })
  const { id } = body.message
  await expect.poll(() => heard.get(id)).toBeDefined()
  const { messages } = (await fixture.ask('owner', 'listMessages', { conversationId: 'talk' })).body
  expect((await fixture.ask('guest', 'getMessage', { id })).body.message).toEqual(messages[0])
  return { listed: messages[0], heard: heard.get(id) }
}

const message = (payload: object, more = {}) => ({
  id: expect.any(String) as string,
  createdAt: time,
  conversationId: 'talk',
  userId: fixture.bot.id,
  payload,
  ...more,
})

/** Bots give the type beside the payload; the items of a bloc likewise, and those of a carousel without a type. */
function toBotPayload({ type, ...payload }: (typeof valid)[number]): { type: string; payload: object } {
  const items = payload['items'] as ({ type: string } & Record<string, unknown>)[]
  if (type === 'bloc') return { type, payload: { items: items.map((item) => toBotPayload(item)) } }
  if (type === 'carousel') return { type, payload: { items: items.map(({ type: _card, ...rest }) => rest) } }
  return { type, payload }
}

test.each(valid)('a bot’s message of type $type is listed and received in the clients’ form: %j', async (payload) => {
  const said = toBotPayload(payload)
  const seen = await reply(said.type, said.payload)
  expect(seen).toEqual({ listed: message(payload), heard: message(payload, { isBot: true }) })
})

test('a bot may say that the items of a carousel are cards, and write a bloc as clients do', async () => {
  for (const payload of [
    { type: 'carousel', items: [card] },
    { type: 'bloc', items: flat },
  ]) {
    const { type, ...rest } = payload
    expect((await reply(type, rest)).listed).toEqual(message(payload))
  }
})

test.each(['image', 'audio', 'video'])('the title that a bot gives to a message of type %s is kept', async (type) => {
  const { listed, heard } = await reply(type, { [`${type}Url`]: 'https://it', title: 'A title' })
  expect(listed.payload).toEqual({ type, [`${type}Url`]: 'https://it', title: 'A title' })
  expect(heard).toMatchObject({ payload: { type, [`${type}Url`]: 'https://it' } })
})

test('metadata in the bot’s payload is beside it for clients', async () => {
  const metadata = { a: null, b: ['c'] }
  const payload = { type: 'text', text: 'hello' }
  expect(await reply('text', { text: 'hello', metadata })).toEqual({
    listed: message(payload, { metadata }),
    heard: message(payload, { metadata, isBot: true }),
  })
})

/** Payloads that are refused of clients are refused of bots too, but for carousels whose items have no type. */
const refused = invalid.filter(
  ([payload, where]) =>
    typeof payload === 'object' &&
    payload !== null &&
    'type' in payload &&
    !(payload.type === 'carousel' && where === 'type'),
) as [{ type: string }, string][]

test.each([...refused, [{ type: 'custom' }, 'not one of text']] as typeof refused)(
  'a payload that no client can show is refused, and the refusal names the place: %j, %s',
  async ({ type, ...payload }, where) => {
    const { status, body } = await fixture.reply(type, payload)
    expect({ status, body }).toEqual(refusal(400, 'InvalidPayload'))
    expect(body.message).toContain(where.replace('payload.', ''))
  },
)

test('nothing of this was unknown to the published client', () => {
  expect(heard.size).toBeGreaterThan(valid.length)
  expect(unknown.filter((signal) => signal !== 'ping')).toEqual([])
})
