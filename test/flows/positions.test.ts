import { afterAll, beforeAll, expect, test } from 'vitest'
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
