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
  expect(foreign.status).toBe(404)
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

test('a handover lets hooks and flows rest, until people hand the conversation back', async () => {
  const code = `export const hooks = {
    afterIncomingMessage: ({ event, client }) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'hook' } }),
    beforeIncomingEvent: ({ event, logger }) => { logger.info(event.type, event.payload.node, event.payload.reason) },
  }`
  const cards = [
    { id: 'people', type: 'handover', reason: 'asked for {{event.preview}}', ports: { resumed: 'back' } },
    { id: 'never', type: 'say', message: 'never' },
  ]
  const back = { id: 'back', cards: [{ id: 'say', type: 'say', message: 'I am back' }] }
  const bot = await platform.createBot(code, {
    flows: [{ id: 'main', start: 'first', nodes: [{ id: 'first', cards }, back] }],
  })
  const { id, say, heard } = await openConversation(platform, bot)
  const replies = await say('help')
  await endedEvents(platform, bot.id, 2)
  expect([...replies, ...(await heard())]).toEqual(['hook'])
  const [started] = await platform.context.db('logs').where({ bot_id: bot.id })
  expect(started).toMatchObject({ message: 'handover_started first asked for help' })
  expect(await say('are you a person?')).toEqual([])
  const path = `/v1/chat/conversations/${id}/flow`
  const position = await platform.ask('GET', path, undefined, { 'x-bot-id': bot.id })
  expect(position.body.position).toMatchObject({ card: 'people', waitsFor: 'handover' })
  await platform.ask('POST', `${path}/resume`, {}, { 'x-bot-id': bot.id })
  await endedEvents(platform, bot.id, 4)
  expect(await heard()).toEqual(['I am back'])
  expect(await say('hello')).toEqual(['hook'])
})

const search = {
  id: 'ask',
  type: 'knowledge',
  question: '{{event.preview}}',
  knowledgeBases: ['shop'],
  limit: 1,
  output: 'workflow.found',
  ports: { none: 'none' },
}

test('knowledge is found by a card, once for all runs of the event, and is event.kb', async () => {
  const code = `
    export const retry = { attempts: 2, backoff: 1 }
    let runs = 0
    export const actions = { fail: () => { if (++runs === 1) throw new Error('once more'); return {} } }`
  const nodes = [
    {
      id: 'first',
      cards: [
        search,
        { id: 'say', type: 'say', message: '{{event.kb.included.0.name}}: {{workflow.found.0.content}}' },
        { id: 'fail', type: 'action', action: 'fail' },
        { id: 'again', type: 'say', message: '{{event.kb.results.0.content}}' },
      ],
    },
    { id: 'none', cards: [{ id: 'say', type: 'say', message: 'I do not know' }] },
  ]
  const bot = await platform.createBot(code, { flows: [{ id: 'main', start: 'first', nodes }] })
  const client = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  const { knowledgeBase } = await client.createKnowledgeBase({ name: 'shop' })
  // As the console tags them: the name is that of the knowledge base.
  const tags = { source: 'knowledge-base', kbId: knowledgeBase.id }
  const { file } = await client.uploadFile({
    key: 'hours.md',
    content: 'The bakery opens at seven.',
    index: true,
    tags,
  })
  const status = async () => (await client.getFile({ id: file.id })).file.status
  await expect.poll(status, { timeout: 30_000 }).toBe('indexing_completed')
  const { say } = await openConversation(platform, bot)
  expect(await say('bakery')).toEqual(['shop: The bakery opens at seven.', 'The bakery opens at seven.'])
  expect(await say('xyzzy')).toEqual(['I do not know'])
  for (const rest of ['long '.repeat(500), 'ö'.repeat(2000), '店'.repeat(1000), `a${'😀'.repeat(600)}`]) {
    expect(await say(`bakery ${rest}`)).toEqual(['shop: The bakery opens at seven.', 'The bakery opens at seven.'])
  }
})

test('an upload whose flows call an action of the bot that its code lacks has a warning with the place of the card', async () => {
  const cards = ['known', 'unknown', 'crm:find'].map((action, index) => ({
    id: `card${index}`,
    type: 'action',
    action,
  }))
  const flows = [{ id: 'main', start: 'first', nodes: [{ id: 'first', cards }] }]
  const upload = { name: 'calls what it lacks', code: 'export const actions = { known: () => ({}) }', flows }
  const { body } = await platform.ask('POST', '/v1/admin/bots', upload)
  expect(body.warnings).toEqual([
    "flow 'main', node 'first', card 'card1': there is no action 'unknown' in exports.actions",
  ])
  const { id } = body.bot
  const mended = await platform.ask('PUT', `/v1/admin/bots/${id}`, {
    code: 'export const actions = { known: () => ({}), unknown: () => ({}) }',
    flows,
  })
  expect(mended.body.bot.id).toBe(id)
  expect(mended.body).not.toHaveProperty('warnings')
})

test('names in texts that stand for nothing, and cards that say nothing, have warnings', async () => {
  const cards = [
    {
      id: 'misspelt',
      type: 'say',
      message: 'Hello {{usr.name}} and {{usr.name}}, {{ user.name }}, {{Math.max(1, 2)}}',
    },
    { id: 'nested', type: 'say', message: { type: 'choice', text: '?', options: [{ label: '{{name}}', value: 'v' }] } },
    { id: 'silent', type: 'say' },
    { id: 'code', type: 'code', code: 'temp.text = "{{name}}"' },
    { id: 'comment', type: 'comment', text: '{{name}}' },
  ]
  const flows = [{ id: 'main', start: 'first', nodes: [{ id: 'first', cards }] }]
  const { body } = await platform.ask('POST', '/v1/admin/bots', { name: 'misspelt', flows })
  const names = 'event, user, conversation, session, bot, temp, workflow, env, now, value'
  const node = "flow 'main', node 'first'"
  expect(body.warnings).toEqual([
    `${node}, card 'misspelt': {{usr.name}} is always empty: did you mean 'user'?`,
    `${node}, card 'nested': {{name}} is always empty: the names are ${names}`,
    `${node}, card 'silent': it has no message, and sends nothing`,
  ])
})

const choice = (id: string, options: [label: string, value: string][]) => ({
  id,
  type: 'choice',
  options: options.map(([label, value]) => ({ label, value })),
})

test('an upload whose choices have options that no answer tells apart has a warning for each', async () => {
  const cards = [
    choice('fine', [
      ['Tea', 'tea'],
      ['Coffee', 'coffee'],
    ]),
    choice('labels', [
      ['Tea', 'black'],
      ['tea ', 'green'],
    ]),
    choice('values', [
      ['Tea', 'hot'],
      ['Coffee', 'hot'],
      ['Stop', 'cancel'],
      ['Fault', 'error'],
    ]),
  ]
  const flows = [{ id: 'main', start: 'ask', nodes: [{ id: 'ask', cards }] }]
  const { body } = await platform.ask('POST', '/v1/admin/bots', { name: 'ambiguous', flows })
  expect(body.warnings).toEqual([
    "flow 'main', node 'ask', card 'labels': there are two options with the label 'tea ': an answer with it selects the first one",
    "flow 'main', node 'ask', card 'values': the options 'Tea' and 'Coffee' have the same value 'hot', and so the same port",
    "flow 'main', node 'ask', card 'values': the option 'Stop' has the value 'cancel', whose port other outcomes take too",
    "flow 'main', node 'ask', card 'values': the option 'Fault' has the value 'error', whose port other outcomes take too",
  ])
})
