import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMember } from '../support/members.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openConversation } from './conversation.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const capture = (id: string) => ({ id, type: 'capture', message: id, variable: `temp.${id}` })

const flows = [
  {
    id: 'main',
    start: 'name',
    nodes: [
      { id: 'name', cards: [capture('name')], next: 'order' },
      { id: 'order', cards: [{ id: 'ask', type: 'call', flow: 'order' }] },
    ],
  },
  { id: 'order', start: 'size', nodes: [{ id: 'size', cards: [capture('size')] }] },
]

test('waiting conversations are counted by the node at which they wait, until their flow ends', async () => {
  const bot = await platform.createBot('', { flows })
  const { authorization } = await createMember(platform, 'viewer', platform.workspaceId)
  const path = `/v1/admin/bots/${bot.id}/flow-positions`
  const positions = async () => (await platform.ask('GET', path, undefined, { authorization })).body.positions
  expect(await positions()).toEqual([])

  const conversations = [await openConversation(platform, bot), await openConversation(platform, bot)]
  for (const { say } of conversations) await say('hi')
  expect(await positions()).toEqual([{ flow: 'main', node: 'name', conversations: 2 }])
  const [first] = conversations
  await first!.say('Ada')
  expect(await positions()).toEqual([
    { flow: 'main', node: 'name', conversations: 1 },
    { flow: 'order', node: 'size', conversations: 1 },
  ])
  await first!.say('large')
  expect(await positions()).toEqual([{ flow: 'main', node: 'name', conversations: 1 }])

  const stranger = await createMember(platform, 'owner')
  expect(await platform.ask('GET', path, undefined, stranger)).toMatchObject({
    status: 404,
    body: { type: 'ResourceNotFound', message: expect.stringContaining('not found') },
  })
})

test('the cards of an event are steps of its run, with their paths, apart from the 60 other steps', async () => {
  const calls = Array.from({ length: 70 }, (_, index) => ({ id: `say-${index}`, type: 'say', message: `${index}` }))
  const nodes = [{ id: 'start', cards: [...calls, capture('name')] }]
  const bot = await platform.createBot('', { flows: [{ id: 'main', start: 'start', nodes }] })
  const { say } = await openConversation(platform, bot)
  await say('hi')
  const { events } = (await platform.ask('GET', `/v1/admin/bots/${bot.id}/events`)).body
  const { event } = (await platform.ask('GET', `/v1/admin/bots/${bot.id}/events/${events[0].id}`)).body
  const [{ steps, stepsLeftOut }] = event.runs
  const namesOf = (...kinds: string[]) =>
    steps.filter(({ kind }: { kind: string }) => kinds.includes(kind)).map(({ name }: { name: string }) => name)
  expect(namesOf('card')).toEqual([...calls.map(({ id }) => `main/start/${id}`), 'main/start/name'])
  expect(namesOf('hook')).toEqual([])
  expect(namesOf('call', 'load').length).toBe(60)
  expect(stepsLeftOut).toBeGreaterThan(0)
})

const main = (...ids: string[]) => ({
  id: 'main',
  start: ids[0],
  nodes: ids.map((id, index) => ({ id, cards: [capture(id)], next: ids[index + 1] ?? null })),
})

const update = (id: string, fields: object) => platform.ask('PUT', `/v1/admin/bots/${id}`, fields)

describe('a new version', () => {
  test('reports how many conversations wait at nodes that it removes, and may be refused for that', async () => {
    const bot = await platform.createBot('', { flows: [main('a', 'b', 'c')] })
    const [one, two] = [await openConversation(platform, bot), await openConversation(platform, bot)]
    for (const { say } of [one, two]) await say('hi')
    await two.say('to b')
    const removed = [{ flow: 'main', node: 'a', conversations: 1 }]
    const refused = await update(bot.id, { flows: [main('b', 'c')], allowRemovedNodes: false })
    expect(refused).toMatchObject({
      status: 400,
      body: { type: 'BreakingChanges', message: expect.stringContaining('main/a (1)'), metadata: { nodes: removed } },
    })
    expect(await one.say('to b')).toEqual(['b'])
    const without = await update(bot.id, { flows: [main('b', 'c')], allowRemovedNodes: false })
    expect(without.body).toMatchObject({ bot: { id: bot.id } })
    expect(without.body).not.toHaveProperty('removedNodes')
    const accepted = await update(bot.id, { flows: [main('c')] })
    expect(accepted).toMatchObject({
      status: 200,
      body: { removedNodes: [{ flow: 'main', node: 'b', conversations: 2 }] },
    })
    expect(await two.say('to main')).toEqual(['c'])
  })

  test('continues at renamed nodes, also when further versions rename them again or rename nothing', async () => {
    const flows = [
      {
        id: 'main',
        start: 'go',
        nodes: [{ id: 'go', cards: [{ id: 'call', type: 'call', flow: 'order' }, capture('after')] }],
      },
      { ...main('size', 'colour'), id: 'order' },
    ]
    const bot = await platform.createBot('', { flows })
    const { say } = await openConversation(platform, bot)
    expect(await say('hi')).toEqual(['size'])
    const renamedFlows = [
      { ...flows[0]!, start: 'start', nodes: [{ ...flows[0]!.nodes[0]!, id: 'start' }] },
      { ...main('width', 'colour'), id: 'order' },
    ]
    const renamed = { 'main/go': 'main/start', 'order/size': 'order/width' }
    for (const wrong of [{ 'main/start': 'main/start' }, { 'main/go': 'main/gone' }, { main: 'main/start' }]) {
      expect(await update(bot.id, { flows: renamedFlows, renamed: wrong })).toMatchObject({ status: 400 })
    }
    expect((await update(bot.id, { renamed })).body.message).toContain('with code or flows')
    const first = await update(bot.id, { flows: renamedFlows, renamed })
    expect(first).toMatchObject({ status: 200 })
    expect(first.body).not.toHaveProperty('removedNodes')
    await update(bot.id, { flows: renamedFlows, note: 'nothing renamed' })
    const again = [renamedFlows[0]!, { ...main('height', 'colour'), id: 'order' }]
    await update(bot.id, { flows: again, renamed: { 'order/width': 'order/height' } })
    // The card of the node has another name, so the node begins again; the caller continues after its card.
    expect(await say('9')).toEqual(['height'])
    expect(await say('10')).toEqual(['colour'])
    expect(await say('red')).toEqual(['after'])
  })

  test('begins main when the caller of a flow is gone, and has a warning of it', async () => {
    const bot = await platform.createBot('', {
      flows: [
        { id: 'main', start: 'go', nodes: [{ id: 'go', cards: [{ id: 'jump', type: 'jump', to: 'shop/' }] }] },
        { id: 'shop', start: 'go', nodes: [{ id: 'go', cards: [{ id: 'call', type: 'call', flow: 'order' }] }] },
        { ...main('size'), id: 'order' },
      ],
    })
    const { say } = await openConversation(platform, bot)
    await say('hi')
    await update(bot.id, { flows: [main('hello'), { ...main('size'), id: 'order' }] })
    expect(await say('large')).toEqual(['hello'])
    const warnings = await platform.context.db('logs').where({ bot_id: bot.id, level: 'warn' })
    expect(warnings).toMatchObject([{ message: expect.stringContaining('stood at shop/go') }])
  })
})
