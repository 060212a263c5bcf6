import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openConversation } from './conversation.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const end = { id: 'end', type: 'end' }
const main = (cards: object[], others: object = {}) => ({
  id: 'main',
  start: 'first',
  nodes: [{ id: 'first', cards }],
  ...others,
})

describe('a wrong flow refuses the upload, with its place:', () => {
  const place = { flow: 'main', node: 'first', card: 'c' }
  test.each<[string, object[], object, string]>([
    [
      'an unknown type of cards',
      [main([{ id: 'c', type: 'speak' }])],
      { ...place, field: 'type' },
      "'speak' is not a type of cards",
    ],
    [
      'a case without words for the model',
      [main([{ id: 'c', type: 'aiRouter', cases: [{ port: 'order' }] }])],
      { ...place, field: 'cases.0' },
      "must have required property 'description'",
    ],
    ['a missing field', [main([{ id: 'c', type: 'jump' }])], place, "must have required property 'to'"],
    ['an unknown field', [main([{ ...end, id: 'c', colour: 'red' }])], place, "must not have a field 'colour'"],
    [
      'a field of another type',
      [main([{ id: 'c', type: 'say', message: 5 }])],
      { ...place, field: 'message' },
      'must be a text, a message with a type, or an expression',
    ],
    [
      'a variable of no scope',
      [main([{ id: 'c', type: 'capture', variable: 'name' }])],
      { ...place, field: 'variable' },
      'must be a variable, as user.name, whose scope is one of workflow',
    ],
    [
      'a variable of a prototype',
      [main([{ id: 'c', type: 'capture', variable: 'temp.__proto__' }])],
      { ...place, field: 'variable' },
      'must be a variable, as user.name, whose scope is one of workflow',
    ],
    [
      'an expression that does not parse',
      [main([{ id: 'c', type: 'condition', if: { $: 'a +' } }])],
      { ...place, field: 'if' },
      'Unexpected',
    ],
    [
      'an expression of two',
      [main([{ id: 'c', type: 'condition', if: { $: 'a) || (b' } }])],
      { ...place, field: 'if' },
      'Expected',
    ],
    [
      'a template that does not parse',
      [main([{ id: 'c', type: 'say', message: 'a {{ 1 + }}' }])],
      { ...place, field: 'message' },
      'Unexpected',
    ],
    [
      'code that does not parse',
      [main([{ id: 'c', type: 'code', code: 'let = 1;\nreturn }' }])],
      { ...place, field: 'code' },
      'Unexpected',
    ],
    [
      'a port that the card does not have',
      [main([{ ...end, id: 'c', ports: { true: 'first' } }])],
      { ...place, field: 'ports.true' },
      "has no port 'true'",
    ],
    [
      'a port to nowhere',
      [main([{ id: 'c', type: 'condition', if: { $: 'true' }, ports: { true: 'gone' } }])],
      { ...place, field: 'ports.true' },
      "there is no node 'gone'",
    ],
    [
      'a jump to nowhere',
      [main([{ id: 'c', type: 'jump', to: 'gone/' }])],
      { ...place, field: 'to' },
      "there is no flow 'gone'",
    ],
    [
      'a call of nothing',
      [main([{ id: 'c', type: 'call', flow: 'gone' }])],
      { ...place, field: 'flow' },
      "there is no flow 'gone'",
    ],
    [
      'a start that is not there',
      [{ ...main([]), start: 'gone' }],
      { flow: 'main', field: 'start' },
      "there is no node 'gone'",
    ],
    ...[
      [{ cron: '61 * * * *' }, 'cron', 'is not a cron expression'],
      [{ cron: '0 0 31 2 *' }, 'cron', 'is not a cron expression'],
      [{ cron: '0 3 * * *', integration: 'telegram' }, 'integration', 'belongs to no integration'],
      [{ event: 'flow_due' }, 'event', 'start no flow'],
    ].map(
      ([trigger, field, problem]) =>
        [
          `the trigger ${JSON.stringify(trigger)}`,
          [main([], { triggers: [{ id: 't', ...(trigger as object) }] })],
          { flow: 'main', trigger: 't', field },
          problem,
        ] as [string, object[], object, string],
    ),
    [
      'a trigger of nothing',
      [main([], { triggers: [{ id: 't' }] })],
      { flow: 'main', trigger: 't' },
      'either the field event or the field cron',
    ],
    ['two cards of one id', [main([end, end])], { flow: 'main', node: 'first' }, "two cards with the id 'end'"],
    ['two flows of one id', [main([]), main([])], {}, "two flows with the id 'main'"],
    [
      'a node without cards',
      [{ id: 'main', start: 'a', nodes: [{ id: 'a' }] }],
      { flow: 'main', node: 'a' },
      "must have required property 'cards'",
    ],
    ['an id with spaces', [{ ...main([]), id: 'my flow' }], { flow: 'my flow' }, 'must match pattern'],
  ])('%s', async (_what, flows, at, problem) => {
    const { status, body } = await platform.ask('POST', '/v1/admin/bots', { flows })
    expect({ status, type: body.type, metadata: body.metadata }).toEqual({
      status: 400,
      type: 'InvalidPayload',
      metadata: at,
    })
    expect(body.message).toContain(problem)
    for (const name of Object.values(at)) expect(body.message).toContain(`'${String(name)}'`)
  })

  test('and leaves what is in service alone', async () => {
    const bot = await platform.createBot('', { flows: [main([{ id: 'say', type: 'say', message: 'I am here' }])] })
    const refused = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, {
      flows: [main([{ id: 'x', type: 'speak' }])],
    })
    expect(refused.status).toBe(400)
    const { say } = await openConversation(platform, bot)
    expect(await say('hi')).toEqual(['I am here'])
  })

  test('flows in the code as well', async () => {
    const code = `export const flows = [{ id: 'main', start: 'first', nodes: [{ id: 'first', cards: [{ id: 'c', type: 'speak' }] }] }]`
    const { status, body } = await platform.ask('POST', '/v1/admin/bots', { code })
    expect({ status, metadata: body.metadata }).toEqual({ status: 400, metadata: { ...place, field: 'type' } })
  })
})

test.each([
  [`{ id: 'c', type: 'condition', if: { $: 'false' }, ports: { true: 'first' } }`, '{ $: "false" }'],
  [`{ id: 'c', type: 'code', code: 'temp.x = 1' }`, 'code: "temp.x = 1"'],
])('flows in code with %s, a form of JSON that code never evaluates, are refused', async (card, form) => {
  const code = `export const flows = [{ id: 'main', start: 'first', nodes: [{ id: 'first', cards: [${card}] }] }]`
  const { status, body } = await platform.ask('POST', '/v1/admin/bots', { code })
  expect({ status, type: body.type }).toEqual({ status: 400, type: 'InvalidPayload' })
  expect(body.message).toContain(
    `exports.flows has ${form}, a form of flows in JSON: in code, a function takes its place`,
  )
})

test('a template in code that is no path has a warning, since it is always empty', async () => {
  const cards = `[{ id: 'c', type: 'say', message: '{{1 + 1}} {{user.name}}' }, { id: 'd', type: 'say', message: () => '{{2 + 2}}' }]`
  const code = `export const flows = [{ id: 'main', start: 'first', nodes: [{ id: 'first', cards: ${cards} }] }]`
  const { body } = await platform.ask('POST', '/v1/admin/bots', { code })
  expect(body.warnings).toEqual([
    "flow 'main', node 'first', card 'c': {{1 + 1}} is always empty: in code, a function takes its place",
  ])
})

test('a bundle of the public SDK, and code with flows of its own, take no flows beside them', async () => {
  const flows = [main([end])]
  const both = await platform.ask('POST', '/v1/admin/bots', { code: 'export const flows = []', flows })
  expect(both.body.message).toContain('not both')
  const sdk = await platform.ask('POST', '/v1/admin/bots', {
    code: 'exports.handler = async () => ({ status: 200 })',
    flows,
  })
  expect(sdk.body.message).toContain('a bundle of the public SDK has no flows')
})

test('flows beyond the limits are refused by name', async () => {
  const cards = Array.from({ length: 500 }, (_, index) => ({ id: `c${index}`, type: 'comment', text: 'x' }))
  const nodes = Array.from({ length: 11 }, (_, index) => ({ id: `n${index}`, cards }))
  const tooMany = await platform.ask('POST', '/v1/admin/bots', { flows: [{ id: 'main', start: 'n0', nodes }] })
  expect(tooMany.body.message).toContain('at most 5000 cards')
  const triggers = Array.from({ length: 21 }, (_, index) => ({ id: `t${index}`, cron: '0 3 * * *' }))
  const tooOften = await platform.ask('POST', '/v1/admin/bots', { flows: [main([], { triggers })] })
  expect(tooOften.body.message).toContain('at most 20 cron triggers')
  const comment = { id: 'c', type: 'comment', text: 'x'.repeat(4000) }
  const large = Array.from({ length: 600 }, (_, index) => ({ id: `n${index}`, cards: [comment] }))
  const tooLarge = await platform.ask('POST', '/v1/admin/bots', { flows: [{ id: 'main', start: 'n0', nodes: large }] })
  expect(tooLarge.body.message).toContain('characters of JSON')
})

test('every card may have a port for its failure', async () => {
  const set = { id: 'set', type: 'set', values: { 'temp.x': { $: 'missing.field' } }, ports: { error: 'sorry' } }
  const sorry = { id: 'sorry', cards: [{ id: 'say', type: 'say', message: 'Sorry' }] }
  const flow = { id: 'main', start: 'first', nodes: [{ id: 'first', cards: [set] }, sorry] }
  const { say } = await openConversation(platform, await platform.createBot('', { flows: [flow] }))
  expect(await say('hi')).toEqual(['Sorry'])
})

test('only the platform writes the position of a conversation', async () => {
  const bot = await platform.createBot('', { flows: [main([end])] })
  const { id } = await openConversation(platform, bot)
  const path = `/v1/chat/states/conversation/${id}/$flow`
  const set = await platform.ask('POST', path, { payload: {} }, { 'x-bot-id': bot.id })
  expect(set.status).toBe(403)
  const event = await platform.ask('POST', '/v1/chat/events', { type: 'flow_due', payload: {} }, { 'x-bot-id': bot.id })
  expect(event.status).toBe(400)
})
