import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDryRun, type DryRun } from '../../cli/dry-run/dry-run.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'

const ask = (id: string, variable: string) => ({ id, type: 'capture', message: `${id}?`, variable })
const say = (id: string, message: unknown) => ({ id, type: 'say', message })
const node = (id: string, cards: object[], others: object = {}) => ({ id, cards, ...others })

const flows = [
  {
    id: 'main',
    start: 'name',
    timeout: { seconds: 3600 },
    nodes: [
      node('name', [ask('name', 'user.name')], { next: 'menu' }),
      node('menu', [
        {
          id: 'menu',
          type: 'choice',
          message: 'Menu',
          options: [
            { label: 'Order', value: 'order' },
            { label: 'People', value: 'people' },
            { label: 'Fail', value: 'fail' },
          ],
          ports: { order: 'order/', people: 'people', fail: 'fail' },
        },
      ]),
      node('people', [{ id: 'people', type: 'handover' }, say('back', 'Back')]),
      node('fail', [{ id: 'fail', type: 'code', code: "state.user.name = 'lost'; throw new TypeError('no')" }]),
    ],
  },
  {
    id: 'order',
    start: 'size',
    timeout: { seconds: 0 },
    nodes: [
      node('size', [ask('size', 'workflow.size')], { next: 'price' }),
      node('price', [
        { id: 'count', type: 'code', code: 'workflow.count = (workflow.count ?? 1) * 2; temp.seen = true' },
        {
          id: 'act',
          type: 'action',
          action: 'price',
          input: { size: '{{workflow.size}}' },
          output: 'workflow.price',
        },
        say('price', '{{workflow.count}} {{workflow.size}}: {{workflow.price.euros}} {{temp.currency}}'),
        { id: 'wait', type: 'wait', seconds: 86_400 },
        { id: 'emit', type: 'emit', event: 'ordered', payload: { size: '{{workflow.size}}' } },
        { id: 'kb', type: 'knowledge', question: 'hours', knowledgeBases: ['shop'], ports: { none: 'none' } },
        say('hours', '{{event.kb.included.0.name}}: {{event.kb.results.0.content}}'),
      ]),
      node('none', [say('none', 'No idea')]),
    ],
  },
  {
    id: 'ordered',
    start: 'only',
    triggers: [{ id: 'ordered', event: 'ordered', filter: { $: "event.payload.size !== 'tiny'" } }],
    nodes: [node('only', [say('only', 'Ordered {{event.payload.size}} ({{event.trigger.flowId}})')])],
  },
  {
    id: 'welcome',
    start: 'only',
    triggers: [
      { id: 'new', event: 'conversation_started' },
      { id: 'nightly', cron: '0 3 * * *' },
    ],
    nodes: [node('only', [say('welcome', 'Welcome to {{event.payload.channel}}')])],
  },
  {
    id: 'nightly',
    start: 'only',
    triggers: [{ id: 'nightly', cron: '0 3 * * *' }],
    nodes: [node('only', [{ id: 'count', type: 'set', values: { 'bot.nights': { $: 'bot.nights + 1' } } }])],
  },
  {
    id: 'models',
    start: 'route',
    nodes: [
      node('route', [
        ask('ask', 'temp.asked'),
        {
          id: 'route',
          type: 'aiRouter',
          cases: [{ port: 'hours', description: 'when the shop is open' }],
          ports: { hours: 'hours', else: 'none' },
        },
      ]),
      node('hours', [{ id: 'answer', type: 'ai', instructions: 'Be brief.' }]),
      node('none', [say('none', 'No idea')]),
    ],
  },
  { id: 'timeout', start: 'late', nodes: [node('late', [say('late', 'Late, {{user.name}}')])] },
]

const code = `
  export const hooks = {
    afterIncomingMessage: ({ state }) => { state.session.messages = (state.session.messages ?? 0) + 1 },
    beforeOutgoingMessage: ({ message }) =>
      message.payload.text === 'Back' ? { data: { ...message, payload: { text: 'Back!' } } } : undefined,
  }
  export const actions = { price: ({ input }) => ({ euros: input.size.length }) }`

let bot: DryRun
let isobot: CommandLine
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  bot = parts.use(await openDryRun({ code, sourceMap: '', flows }))
  isobot = parts.use(await openCommandLine())
})
afterAll(() => parts.disposeAsync())

const menu = {
  type: 'choice',
  text: 'Menu',
  options: expect.arrayContaining([{ label: 'Order', value: 'order' }]) as unknown,
}

describe('a conversation with the bot of a dry run', () => {
  test('passes hooks and flows, and keeps its state and its position', async () => {
    const conversation = bot.openConversation({ state: { session: { messages: 4 } } })
    expect(conversation.position).toBeUndefined()
    expect(await conversation.say('hi')).toEqual(['name?'])
    expect(await conversation.say('Ada')).toEqual([menu])
    expect(conversation.position).toMatchObject({ flow: 'main', node: 'menu', card: 'menu', waitsFor: 'answer' })
    expect(conversation.variables).toMatchObject({ user: { name: 'Ada' }, session: { messages: 6 } })
    expect(await conversation.say({ text: 'Order', value: 'order' })).toEqual(['size?'])
    // Another conversation of the same bot stands elsewhere.
    expect(await bot.openConversation().say('hi')).toEqual(['name?'])
    expect(conversation.position).toMatchObject({ flow: 'order', node: 'size' })
  })

  test('starts at any node with variables, and waits no longer than its author', async () => {
    const answers = { searchFiles: { passages: [{ content: 'From seven' }] } }
    const conversation = bot.openConversation({ answers })
    const replies = await conversation.start('order/price', {
      workflow: { size: 'large', count: 3 },
      temp: { currency: 'euros' },
    })
    expect(replies).toEqual(['6 large: 5 euros'])
    expect(conversation.variables).toMatchObject({ workflow: { count: 6 }, temp: { seen: true, currency: 'euros' } })
    expect(conversation.position).toMatchObject({ card: 'wait', waitsFor: 'time' })
    expect(await conversation.say('are you there?')).toEqual([])
    expect(await conversation.timeout()).toEqual(['shop: From seven', 'Ordered large (ordered)'])
    expect(conversation.calls.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(['createEvent', 'searchFiles', 'createMessage']),
    )
    expect(conversation.position).toBeUndefined()
  })

  test('asks the models that its author scripts', async () => {
    const answers = { generateText: [{ output: { case: 'hours' } }, { output: 'From seven.' }] }
    const conversation = bot.openConversation({ answers })
    expect(await conversation.start('models')).toEqual(['ask?'])
    expect(await conversation.say('When are you open?')).toEqual(['From seven.'])
    const stream = conversation.calls.find(({ operation }) => operation === 'generateTextStream')
    expect(stream?.input).toMatchObject({ systemPrompt: 'Be brief.', messages: [{ content: 'When are you open?' }] })
  })

  test('ends a wait for an answer, but none without an end', async () => {
    const conversation = bot.openConversation({ state: { user: { name: 'Ada' } } })
    await conversation.start('main')
    expect(await conversation.timeout()).toEqual(['Late, Ada'])
    await expect(conversation.timeout()).rejects.toThrow('waits for nothing')
    await conversation.start('order')
    await expect(conversation.timeout()).rejects.toThrow('without an end')
    await expect(conversation.start('order/gone')).rejects.toThrow("Node 'gone' of flow 'order' not found")
    await expect(conversation.start('gone')).rejects.toThrow("Flow 'gone' not found: the bot has main, order")
  })

  test('receives events, which meet triggers, and rests while people have it', async () => {
    const conversation = bot.openConversation()
    expect(await conversation.receive({ type: 'ordered', payload: { size: 'tiny' } })).toEqual([])
    expect(await conversation.receive({ type: 'ordered', payload: { size: 'big' } })).toEqual(['Ordered big (ordered)'])
    await conversation.start('main/people')
    expect(conversation.position).toMatchObject({ waitsFor: 'handover' })
    expect(await conversation.say('hello?')).toEqual([])
    expect(conversation.variables.session).toEqual({})
    expect(await conversation.resume()).toEqual(['Back!'])
  })

  test('receives the events of a new conversation and of a schedule, which has no conversation', async () => {
    const conversation = bot.openConversation({ state: { bot: { nights: 1 }, user: { name: 'Ada' } } })
    const started = { type: 'conversation_started', integration: 'chat', payload: { channel: 'channel' } }
    expect(await conversation.receive(started)).toEqual(['Welcome to channel'])
    const scheduled = { type: 'flow_scheduled', payload: { flow: 'welcome', trigger: 'nightly' }, conversation: false }
    await expect(conversation.receive(scheduled)).rejects.toThrow('The event has no conversation')
    await conversation.receive({ ...scheduled, payload: { flow: 'nightly', trigger: 'nightly' } })
    expect(conversation.variables).toMatchObject({ bot: { nights: 2 }, user: { name: 'Ada' } })
  })

  test('rejects when an event fails, which changes neither state nor position', async () => {
    const conversation = bot.openConversation({ state: { user: { name: 'Ada' } } })
    await conversation.start('main/menu')
    await expect(conversation.say('fail')).rejects.toThrow('main/fail/fail: TypeError: no')
    expect(conversation.variables.user).toEqual({ name: 'Ada' })
    expect(conversation.position).toMatchObject({ node: 'menu' })
  })
})

test('`isobot run` holds a conversation from a file, and prints it with its end', async () => {
  const folder = join(isobot.folder, 'talking')
  await mkdir(join(folder, 'flows'), { recursive: true })
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'isobot.json'), JSON.stringify({ name: 'talking' }))
  await writeFile(join(folder, 'src', 'index.ts'), code)
  for (const flow of flows) await writeFile(join(folder, 'flows', `${flow.id}.json`), JSON.stringify(flow))
  const command = ['run', folder, 'conversation', '-']
  const steps = ['hi', 'Ada', { say: { text: 'x', value: 'order' } }, { start: 'main' }, { timeout: 'now' }]
  const shown = await isobot.run([...command, '--json'], { input: JSON.stringify({ steps }) })
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(shown.stdout)).toMatchObject({
    status: 'done',
    steps: [{ replies: ['name?'] }, { replies: [menu] }, { replies: ['size?'] }, {}, { replies: ['Late, Ada'] }],
    variables: { user: { name: 'Ada' } },
  })
  const input = JSON.stringify({ steps: [{ start: 'main/menu' }, 'fail', 'never'] })
  const failed = await isobot.run(command, { input })
  expect(failed).toMatchObject({ code: 1 })
  expect(failed.stdout).toContain('> fail\n\nWaits for answer at main/menu/menu\nFailed: main/fail/fail TypeError: no')
  const misused = await isobot.run(command, { input: JSON.stringify({ steps: [{ expect: 'x' }] }) })
  expect(misused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no step {"expect":"x"}') as string,
  })
})
