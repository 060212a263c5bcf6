import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Flow } from '#shared/flows/flow.ts'
import { logOf } from '../support/install-code.ts'
import { endedEvents } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openConversation } from './conversation.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const say = (id: string, message: unknown) => ({ id, type: 'say', message })
const ask = (id: string, variable = 'temp.answer') => ({ id, type: 'capture', message: `${id}?`, variable })
const flowOf = (id: string, cards: object[], others: object = {}) => ({
  id,
  start: 'first',
  nodes: [{ id: 'first', cards }],
  ...others,
})

const update = (id: string, fields: object) => platform.ask('PUT', `/v1/admin/bots/${id}`, fields)

async function talk(flows: object[], code = '', fields: object = {}) {
  const bot = await platform.createBot(code, { flows, ...fields })
  return { bot, ...(await openConversation(platform, bot)) }
}

/** The stored position of a conversation. */
async function positionOf(conversationId: string) {
  const row = await platform.context.db('states').where({ owner_id: conversationId, name: '$flow' }).first()
  return { expiresAt: row?.expires_at, ...(row?.payload['position'] as Record<string, unknown> | undefined) }
}

/** Lets the wait of a conversation end now. */
async function letWaitEnd(conversationId: string) {
  await platform.context
    .db('states')
    .where({ owner_id: conversationId, name: '$flow' })
    .update({ expires_at: new Date(Date.now() - 1000) })
}

test('a card that asks a language model fails by its name on a platform without a provider', async () => {
  const { bot, say: tell } = await talk([flowOf('main', [{ id: 'ask', type: 'ai' }])])
  expect(await tell('hi')).toEqual([])
  const { body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}/events`)
  expect(body.events[0]).toMatchObject({
    hook: 'main/first/ask',
    failureReason: expect.stringContaining('has no provider of language models: its operator sets'),
  })
})

describe('a run that fails and is repeated', () => {
  test('takes the outcomes of cards from the first run, and says nothing twice', async () => {
    const code = `
      export const retry = { attempts: 3, backoff: 1 }
      let runs = 0
      export const actions = {
        draw: async () => ({ number: Math.random() }),
        fail: async () => { if (++runs < 3) throw new Error('once more'); return {} },
      }`
    const { say: tell } = await talk(
      [
        flowOf('main', [
          { id: 'random', type: 'code', code: 'workflow.random = Math.random(); state.user.random = workflow.random' },
          { id: 'draw', type: 'action', action: 'draw', output: 'temp.drawn' },
          say('one', '{{workflow.random}} {{temp.drawn.number}}'),
          { id: 'fail', type: 'action', action: 'fail' },
          say('two', '{{workflow.random}} {{temp.drawn.number}}'),
          say('three', '{{user.random}}'),
        ]),
      ],
      code,
    )
    const [one, two, three, ...others] = await tell('hi')
    expect(two).toBe(one)
    expect(one).toMatch(`${three} 0.`)
    expect(others).toEqual([])
  })

  test('changes no position when it fails for good', async () => {
    const { say: tell, id } = await talk([
      flowOf('main', [
        ask('a'),
        { id: 'fail', type: 'code', code: "if (temp.answer === 'bad') throw new Error('no')" },
        ask('b'),
      ]),
    ])
    await tell('hi')
    const before = await positionOf(id)
    expect(await tell('bad')).toEqual([])
    expect(await positionOf(id)).toEqual(before)
    expect(await tell('good')).toEqual(['b?'])
  })
})

describe('a failed card', () => {
  test('continues at onError, else flow error runs', async () => {
    const fail = { id: 'fail', type: 'code', code: "throw new Error('broken')" }
    const error = flowOf('error', [say('sorry', 'Sorry: {{temp.error.message}} in {{temp.error.card}}'), ask('more')])
    const { say: tell } = await talk([flowOf('main', [fail]), error])
    expect(await tell('hi')).toEqual(['Sorry: broken in main/first/fail', 'more?'])
    const own = {
      ...flowOf('main', [fail], { onError: 'other' }),
      nodes: [
        { id: 'first', cards: [fail] },
        { id: 'other', cards: [say('own', 'own')] },
      ],
    }
    const second = await talk([own, error])
    expect(await second.say('hi')).toEqual(['own'])
  })

  test('fails the event with the path of the card and the position in its code', async () => {
    const { say: tell, bot } = await talk([
      flowOf('main', [{ id: 'set', type: 'set', values: { 'temp.x': { $: 'missing.field' } } }]),
    ])
    await tell('hi')
    const [event] = await endedEvents(platform, bot.id, 1)
    expect(event).toMatchObject({ status: 'failed' })
    expect(event!.failure_reason).toContain('main/first/set: ReferenceError: missing is not defined')
  })
})

test.each([
  ['jumps', { id: 'go', type: 'jump', to: 'first' }],
  ['calls of itself', { id: 'go', type: 'call', flow: 'main' }],
])('%s without end fail the event, and no flow handles that', async (_what, card) => {
  const { say: tell, bot } = await talk([flowOf('main', [card]), flowOf('error', [say('never', 'never')])])
  expect(await tell('hi')).toEqual([])
  const [event] = await endedEvents(platform, bot.id, 1)
  expect(event!.failure_reason).toMatch(/FlowLimitError|loops|deep/)
})

describe('a wait', () => {
  test('for an answer ends with flow timeout, which has the variables temp', async () => {
    const main = flowOf('main', [{ id: 'set', type: 'set', values: { 'temp.a': 1 } }, ask('a')], {
      timeout: { seconds: 3600 },
    })
    const { say: tell, id, bot, heard } = await talk([main, flowOf('timeout', [say('late', 'Too late {{temp.a}}')])])
    await tell('hi')
    const { expiresAt } = await positionOf(id)
    expect(Number(expiresAt) - Date.now()).toBeGreaterThan(3_500_000)
    await letWaitEnd(id)
    await endedEvents(platform, bot.id, 2)
    expect(await heard()).toEqual(['Too late 1'])
    expect(await tell('hi')).toEqual(['a?'])
  })

  test('that ends after the answer has no effect, and one of 0 seconds never ends', async () => {
    const {
      say: tell,
      id,
      bot,
      heard,
    } = await talk([
      flowOf('main', [ask('a'), ask('b')], { timeout: { seconds: 0 } }),
      flowOf('timeout', [say('late', 'never')]),
    ])
    await tell('hi')
    expect((await positionOf(id)).expiresAt).toBeNull()
    const { event } = (await positionOf(id)) as { event?: string }
    await tell('answer')
    // An event for the first question, as one that was made just before the answer.
    await platform.context.db.raw(
      `insert into events (id, bot_id, mailbox, conversation_id, direction, type, payload, status)
       values ('evt_old', ?, ?, ?, 'incoming', 'flow_due', ?, 'pending')`,
      [bot.id, id, id, JSON.stringify({ waitOf: event })],
    )
    await platform.context.queue.wake('event', id, bot.id)
    await endedEvents(platform, bot.id, 3)
    expect(await heard()).toEqual([])
    expect(await positionOf(id)).toMatchObject({ frames: [{ card: 'b' }] })
  })

  test('for a time continues after it, and short ones take place within the run', async () => {
    const {
      say: tell,
      id,
      bot,
      heard,
    } = await talk([
      flowOf('main', [
        say('a', 'a'),
        { id: 'short', type: 'wait', seconds: 0.05 },
        say('b', 'b'),
        { id: 'long', type: 'wait', seconds: { $: '60 * 60' } },
        say('c', 'c {{user.name}}'),
      ]),
    ])
    expect(await tell('hi')).toEqual(['a', 'b'])
    expect(await tell('are you there?')).toEqual([])
    await letWaitEnd(id)
    await endedEvents(platform, bot.id, 3)
    expect(await heard()).toEqual(['c '])
  })
})

test('a wait whose event has failed continues with the next message', async () => {
  const {
    say: tell,
    id,
    bot,
  } = await talk([
    flowOf('main', [
      { id: 'long', type: 'wait', seconds: 3600 },
      { id: 'fail', type: 'code', code: "if (event.type === 'flow_due') throw new Error('no')" },
      say('over', 'over'),
    ]),
  ])
  await tell('hi')
  await platform.context.db.raw(
    `update states set payload = jsonb_set(payload, '{position,frames,0,waits,until}', '1') where owner_id = ?`,
    [id],
  )
  await letWaitEnd(id)
  const events = await endedEvents(platform, bot.id, 2)
  expect(events[1]).toMatchObject({ type: 'flow_due', status: 'failed' })
  expect(await tell('are you there?')).toEqual(['over'])
})

test('always leaves a waiting card before it reads the answer', async () => {
  const main = {
    id: 'main',
    start: 'first',
    always: [{ if: { $: "event.preview === 'help'" }, to: 'help' }],
    nodes: [
      { id: 'first', cards: [ask('a')] },
      { id: 'help', cards: [say('help', 'Help is here')], next: 'first' },
    ],
  }
  const { say: tell } = await talk([main])
  await tell('hi')
  expect(await tell('help')).toEqual(['Help is here', 'a?'])
})

test('a trigger that interrupts runs first, and then the flow below it waits on', async () => {
  for (const interrupts of [false, true]) {
    const code = `export const actions = { ping: ({ client, input }) =>
      client.createEvent({ type: 'ping', payload: {}, conversationId: input.conversationId }).then(() => ({})) }`
    const {
      say: tell,
      id,
      bot,
      heard,
    } = await talk(
      [
        flowOf('main', [ask('a'), say('b', 'got {{temp.answer}}')]),
        flowOf('ping', [say('ping', 'pong')], { triggers: [{ id: 'ping', event: 'ping', interrupts }] }),
      ],
      code,
    )
    await tell('hi')
    await platform.ask(
      'POST',
      '/v1/chat/actions',
      { type: 'ping', input: { conversationId: id } },
      { 'x-bot-id': bot.id },
    )
    await endedEvents(platform, bot.id, 3)
    expect(await heard()).toEqual(interrupts ? ['pong'] : [])
    expect(await tell('1')).toEqual(['got 1'])
  }
})

test('a message that meets a trigger answers the card that waits, unless the trigger interrupts', async () => {
  const isHelp = { $: "event.preview === 'help'" }
  const triggers = (interrupts: boolean) => [{ id: 'help', event: 'message_created', filter: isHelp, interrupts }]
  for (const interrupts of [false, true]) {
    const { say: tell } = await talk([
      flowOf('main', [ask('a'), say('b', 'got {{temp.answer}}')]),
      flowOf('help', [say('help', 'Help is here')], { triggers: triggers(interrupts) }),
    ])
    expect(await tell('help')).toEqual(['Help is here'])
    await tell('hi')
    expect(await tell('help')).toEqual([interrupts ? 'Help is here' : 'got help'])
  }
})

/** A trigger for a message with a text, which interrupts. */
const interrupting = (text: string) => [
  { id: text, event: 'message_created', filter: { $: `event.preview === '${text}'` }, interrupts: true },
]

describe('a flow that interrupts another one', () => {
  const main = flowOf('main', [ask('a'), say('b', 'got {{temp.answer}}')])
  const help = flowOf('help', [ask('which', 'temp.topic'), say('tell', 'Help about {{temp.topic}}')], {
    triggers: interrupting('help'),
  })

  test('leaves it waiting when its own wait ends, at flow timeout too', async () => {
    for (const late of [[], [flowOf('timeout', [say('late', 'Too late')])]]) {
      const { say: tell, id, bot, heard } = await talk([main, help, ...late])
      await tell('hi')
      expect(await tell('help')).toEqual(['which?'])
      await letWaitEnd(id)
      await endedEvents(platform, bot.id, 3)
      expect(await heard()).toEqual(late.length > 0 ? ['Too late'] : [])
      expect(await tell('1')).toEqual(['got 1'])
    }
  })

  test('leaves it waiting when a card fails and flow error follows', async () => {
    const broken = flowOf('broken', [{ id: 'fail', type: 'code', code: 'throw new Error("no")' }], {
      triggers: interrupting('broken'),
    })
    const { say: tell } = await talk([main, broken, flowOf('error', [say('sorry', 'Sorry')])])
    await tell('hi')
    expect(await tell('broken')).toEqual(['Sorry'])
    expect(await tell('1')).toEqual(['got 1'])
  })

  test('begins again when it is asked for again, as often as that is', async () => {
    const { say: tell } = await talk([main, help])
    await tell('hi')
    for (let time = 0; time < 20; time += 1) expect(await tell('help')).toEqual(['which?'])
    expect(await tell('tea')).toEqual(['Help about tea'])
    expect(await tell('1')).toEqual(['got 1'])
  })
})

test('a trigger that does not interrupt hides none that does from a conversation that waits', async () => {
  const code = `
    export const actions = { ping: ({ client, input }) =>
      client.createEvent({ type: 'ping', payload: {}, conversationId: input.conversationId }).then(() => ({})) }
    export const hooks = { afterIncomingEvent: ({ event, logger }) => { logger.info(event.trigger?.flowId ?? 'none') } }`
  const trigger = { id: 'ping', event: 'ping' }
  const flows = [
    flowOf('main', [ask('a'), say('b', 'got {{temp.answer}}')]),
    flowOf('calm', [say('ping', 'calm')], { triggers: [trigger] }),
    flowOf('urgent', [say('ping', 'urgent')], { triggers: [{ ...trigger, interrupts: true }] }),
  ]
  const { say: tell, id, bot, heard } = await talk(flows, code)
  const ping = () => {
    const body = { type: 'ping', input: { conversationId: id } }
    return platform.ask('POST', '/v1/chat/actions', body, { 'x-bot-id': bot.id })
  }
  await ping()
  await endedEvents(platform, bot.id, 2)
  expect(await heard()).toEqual(['calm'])
  await tell('hi')
  await ping()
  await endedEvents(platform, bot.id, 5)
  expect(await heard()).toEqual(['urgent'])
  expect(await tell('1')).toEqual(['got 1'])
  expect(await logOf(platform, bot.id)).toEqual(['info calm', 'info urgent'])
})

describe('a new version', () => {
  test('continues where the conversation stands, begins the node again without the card, and main without the node', async () => {
    const nodes = (cards: object[], rest: object[] = []) => [
      {
        ...flowOf('main', [{ id: 'go', type: 'jump', to: 'node' }]),
        nodes: [{ id: 'first', cards: [{ id: 'go', type: 'jump', to: 'node' }] }, { id: 'node', cards }, ...rest],
      },
    ]
    const { say: tell, bot } = await talk(nodes([ask('a'), say('old', 'old')]))
    await tell('hi')
    await update(bot.id, { flows: nodes([ask('a'), say('new', 'new {{temp.answer}}')]) })
    expect(await tell('1')).toEqual(['new 1'])
    await tell('hi')
    await update(bot.id, { flows: nodes([ask('other')]) })
    expect(await tell('1')).toEqual(['other?'])
    await update(bot.id, { flows: [flowOf('main', [say('main', 'main again')])] })
    expect(await tell('1')).toEqual(['main again'])
  })

  test('of code keeps the flows beside it; an empty list removes them', async () => {
    const { say: tell, bot } = await talk([flowOf('main', [say('a', '{{JSON.stringify(session.hook ?? null)}}')])])
    expect(await tell('hi')).toEqual(['null'])
    const code = `export const hooks = { afterIncomingMessage: ({ state }) => { state.session.hook = 1 } }`
    expect((await update(bot.id, { code })).status).toBe(200)
    expect(await tell('hi')).toEqual(['1'])
    expect((await update(bot.id, { flows: [] })).status).toBe(200)
    expect(await tell('hi')).toEqual([])
  })
})

test('code and flows that are uploaded at the same time are both in service', async () => {
  const { say: tell, bot } = await talk([flowOf('main', [say('a', 'old')])])
  const code = `export const hooks = { afterIncomingMessage: ({ state }) => { state.session.hook = 'new code' } }`
  const flows = [flowOf('main', [say('a', 'new flow, {{session.hook}}')])]
  const answers = await Promise.all([update(bot.id, { code }), update(bot.id, { flows })])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(await tell('hi')).toEqual(['new flow, new code'])
})

test('flows are written in TypeScript too, with functions as expressions', async () => {
  const { say: tell, bot } = await talk(
    undefined as never,
    `
    export const flows = [{
      id: 'main',
      start: 'ask',
      variables: { count: { default: 0 } },
      nodes: [
        { id: 'ask', cards: [
          { id: 'ask', type: 'capture', kind: 'number', message: 'How many?', variable: 'workflow.count', validate: ({ value }) => value > 0 },
          { id: 'say', type: 'say', message: ({ workflow }) => 'Twice is ' + workflow.count * 2 },
          { id: 'code', type: 'code', code: async ({ workflow, client, event }) => { workflow.count += 1; return workflow.count > 3 ? 'many' : undefined }, ports: { many: 'many' } },
        ] },
        { id: 'many', cards: [{ id: 'say', type: 'say', message: 'That is many: {{workflow.count}}' }] },
      ],
    }]`,
  )
  expect(await tell('hi')).toEqual(['How many?'])
  expect(await tell('-1')).toEqual(['How many?'])
  expect(await tell('3')).toEqual(['Twice is 6', 'That is many: 4'])
  const version = await platform.context.db('bot_versions').where({ bot_id: bot.id }).first('flows')
  const flows = JSON.parse(version!.flows!) as Flow[]
  expect(flows[0]!.nodes[0]!.cards[0]!['validate']).toEqual({ $: '({ value }) => value > 0' })
})

test('hooks run before flows, see where the conversation stands, and stop them', async () => {
  const code = `
    export const hooks = {
      beforeIncomingMessage: ({ event }) => event.preview === 'stop' ? { stop: true } : undefined,
      afterIncomingMessage: ({ event, state }) => { state.session.seen = event.state.context },
      beforeOutgoingMessage: ({ message }) => ({ data: { ...message, payload: { text: message.payload.text + '!' } } }),
    }`
  const { say: tell } = await talk(
    [flowOf('main', [ask('b'), say('seen', 'stood at {{session.seen.currentCard}}')])],
    code,
  )
  expect(await tell('hi')).toEqual(['b?!'])
  expect(await tell('stop')).toEqual([])
  expect(await tell('go')).toEqual(['stood at b!'])
})

test('two conversations of a bot stand at different places', async () => {
  const bot = await platform.createBot('', { flows: [flowOf('main', [ask('a'), say('b', 'got {{temp.answer}}')])] })
  const [one, two] = [await openConversation(platform, bot), await openConversation(platform, bot)]
  await one.say('hi')
  await two.say('hi')
  expect(await one.say('1')).toEqual(['got 1'])
  expect(await two.say('2')).toEqual(['got 2'])
})

describe('hostile flows', () => {
  test('change no prototype by variables, and keep them within bounds', async () => {
    const { say: tell, bot } = await talk([
      flowOf('main', [
        ask('a'),
        {
          id: 'code',
          type: 'code',
          code: `workflow.__proto__.polluted = 1; temp['__proto__'] = { x: 1 }; if (temp.answer === 'big') temp.big = 'x'.repeat(200_000)`,
        },
        say('b', '{{({}).polluted}}'),
        ask('c'),
      ]),
    ])
    await tell('hi')
    await tell('big')
    const events = await endedEvents(platform, bot.id, 2)
    expect(events[1]!.failure_reason).toContain('more than their maximum of 128 KB')
  })

  test('of 5,000 cards are accepted, and an event runs 500 of them at most', async () => {
    const cards = Array.from({ length: 500 }, (_, index) => ({ id: `c${index}`, type: 'comment', text: 'x' }))
    const nodes = Array.from({ length: 10 }, (_, index) => ({
      id: `n${index}`,
      // The other flow has one card.
      cards: index < 9 ? cards : cards.slice(1),
      ...(index < 9 && { next: `n${index + 1}` }),
    }))
    const { say: tell, bot } = await talk([
      { id: 'main', start: 'n0', nodes },
      flowOf('error', [say('never', 'never')]),
    ])
    expect(await tell('hi')).toEqual([])
    const [event] = await endedEvents(platform, bot.id, 1)
    expect(event!.failure_reason).toContain(
      'FlowLimitError: An event may run at most 500 cards; the last one was main/n1/',
    )
  })

  test('that replace what the engine works with fail by name', async () => {
    for (const code of ['event.state = null', 'state.user = 5; event.state = undefined']) {
      const { say: tell, bot } = await talk([flowOf('main', [{ id: 'code', type: 'code', code }, say('a', 'a')])])
      expect(await tell('hi')).toEqual([])
      const [event] = await endedEvents(platform, bot.id, 1)
      expect(event!.failure_reason).toContain('main/first/code: TypeError: event.state must be an object')
    }
    const options = { $: '[{ label: null }]' }
    const { say: tell, bot } = await talk([flowOf('main', [{ id: 'ask', type: 'choice', options }])])
    await tell('hi')
    const [event] = await endedEvents(platform, bot.id, 1)
    expect(event!.failure_reason).toContain('Each option of a choice has a label and a value')
  })

  test('with ids that every object has as properties are flows like others', async () => {
    const ports = { ['__proto__']: 'toString/' }
    const leave = { id: 'constructor', type: 'code', code: "return '__proto__'", ports }
    const { say: tell } = await talk([
      { id: 'main', start: '__proto__', nodes: [{ id: '__proto__', cards: [leave] }] },
      {
        id: 'toString',
        start: 'valueOf',
        nodes: [{ id: 'valueOf', cards: [{ id: 'call', type: 'call', flow: '__proto__' }, say('back', 'back')] }],
      },
      flowOf('__proto__', [say('say', 'hello')]),
    ])
    expect(await tell('hi')).toEqual(['hello', 'back'])
  })

  test('that burn are stopped by the limits of the bot', async () => {
    const loop = { id: 'if', type: 'condition', if: { $: '(() => { while (true); })()' } }
    const flows = [flowOf('main', [loop]), flowOf('error', [say('never', 'never')])]
    const { say: tell, bot } = await talk(flows, '', { limits: { cpuMilliseconds: 100 } })
    expect(await tell('hi')).toEqual([])
    const [event] = await endedEvents(platform, bot.id, 1)
    expect(event!.failure_reason).toContain('processor time')
  })
})
