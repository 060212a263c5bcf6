import { Client } from '@botpress/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endedEvents } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openConversation } from './conversation.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const ask = (id: string) => ({ id, type: 'capture', message: `${id} {{workflow.name}}?`, variable: 'temp.answer' })
const flows = [
  { id: 'main', start: 'first', nodes: [{ id: 'first', cards: [ask('main')] }] },
  {
    id: 'survey',
    start: 'first',
    variables: { name: { default: 'you' } },
    timeout: { seconds: 0 },
    nodes: [
      { id: 'first', cards: [ask('first')], next: 'last' },
      { id: 'last', cards: [{ id: 'call', type: 'call', flow: 'main' }] },
    ],
  },
]

test('a program starts a flow, learns where a conversation waits, and ends its flows', async () => {
  const bot = await platform.createBot('', { flows })
  const { id, say, heard } = await openConversation(platform, bot)
  const path = `/v1/chat/conversations/${id}/flow`
  const ask = (method: string, body?: object, at = path) => platform.ask(method, at, body, { 'x-bot-id': bot.id })
  expect((await ask('GET')).body).toEqual({})
  const started = await ask('POST', { flow: 'survey', input: { name: 'Ada' } })
  expect(started).toMatchObject({ status: 201, body: { event: { type: 'flow_started', conversationId: id } } })
  await endedEvents(platform, bot.id, 1)
  expect(await heard()).toEqual(['first Ada?'])
  expect((await ask('GET')).body).toEqual({
    position: {
      flow: 'survey',
      node: 'first',
      card: 'first',
      waitsFor: 'answer',
      callers: [],
      versionId: expect.stringMatching(/^botver_/) as string,
    },
  })
  expect(await say('yes')).toEqual(['main ?'])
  expect((await ask('GET')).body.position).toMatchObject({
    flow: 'main',
    callers: ['survey'],
    until: expect.any(String) as string,
  })
  await ask('POST', { flow: 'survey', node: 'last' })
  await endedEvents(platform, bot.id, 3)
  expect(await heard()).toEqual(['main ?'])
  expect((await ask('DELETE')).status).toBe(200)
  await endedEvents(platform, bot.id, 4)
  expect((await ask('GET')).body).toEqual({})

  for (const [body, problem] of [
    [{ flow: 'gone' }, "Flow 'gone' not found"],
    [{ flow: 'survey', node: 'gone' }, "Node 'gone' of flow 'survey' not found"],
  ] as const) {
    expect((await ask('POST', body)).body).toMatchObject({ type: 'ReferenceNotFound', message: problem })
  }
  const other = await platform.createBot('', { flows })
  const foreign = await platform.ask('POST', path, { flow: 'survey' }, { 'x-bot-id': other.id })
  expect(foreign.body).toMatchObject({ type: 'ReferenceNotFound' })
  expect((await platform.ask('GET', path, undefined, { 'x-bot-id': other.id })).status).toBe(404)
})

test('code starts a flow once, although its event runs twice', async () => {
  const code = `
    export const retry = { attempts: 2, backoff: 1 }
    let runs = 0
    export const hooks = {
      async afterIncomingMessage({ event, client }) {
        if (event.preview !== 'start') return
        await client.startFlow({ conversationId: event.conversationId, flow: 'survey' })
        if (++runs === 1) throw new Error('once more')
        return { stop: true }
      },
    }`
  const bot = await platform.createBot(code, { flows })
  const { say, heard } = await openConversation(platform, bot)
  const replies = await say('start')
  await endedEvents(platform, bot.id, 2)
  expect([...replies, ...(await heard())]).toEqual(['first you?'])
  expect(
    await new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id }).listEvents({
      type: 'flow_started',
    }),
  ).toMatchObject({ events: [{ status: 'processed' }] })
})
