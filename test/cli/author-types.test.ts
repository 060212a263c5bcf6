import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { globalsOf } from '#sandbox/prelude/groups.ts'
import { botOperations } from '#shared/router.ts'
import { cardReferenceFile, writeCardReference } from '../../cli/author-types/card-reference.ts'
import { typesFile, writeTypes } from '../../cli/author-types/write-types.ts'
import { checkTypes } from '../../cli/project/check-types.ts'
import { openDryRun } from '../../cli/dry-run/dry-run.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'

const root = join(import.meta.dirname, '..', '..')

test('the committed types are those that the operations make', async () => {
  expect(await readFile(typesFile, 'utf8')).toBe(await writeTypes())
})

test('the committed reference of cards is what their schemas make', async () => {
  expect(await readFile(cardReferenceFile, 'utf8')).toBe(await writeCardReference())
})

test('isolates have every global that is declared, with its members, and no other is left out', async () => {
  const declared = readGlobals(await readFile(join(root, 'bot', 'parts', 'web.d.ts'), 'utf8'))
  const code = `
    export const hooks = {
      afterIncomingMessage({ state }) {
        const missing = []
        // Fields of instances can only be looked for on one.
        const one = {
          Request: new Request('https://a'), Response: new Response(), DOMException: new DOMException(),
          performance, Performance: performance, console, crypto, Crypto: crypto, AbortController: new AbortController(), TransformStream: new TransformStream(),
          CountQueuingStrategy: new CountQueuingStrategy({ highWaterMark: 1 }), Event: new Event('a'),
          ByteLengthQueuingStrategy: new ByteLengthQueuingStrategy({ highWaterMark: 1 }), CustomEvent: new CustomEvent('a'),
          TextEncoderStream: new TextEncoderStream(), TextDecoderStream: new TextDecoderStream(),
        }
        const look = (name, places, member) => {
          const found = [...places, one[name.split('.')[0]]].some((place) => place && member in place)
          if (!found) missing.push(name)
        }
        ${declared.flatMap(lookFor).join('\n')}
        state.bot.missing = missing
      }
    }`
  await using trial = await openDryRun({ code, sourceMap: '' })
  expect(await trial.run('afterIncomingMessage', {})).toMatchObject({ status: 'done', state: { bot: { missing: [] } } })
  const names = declared.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(Object.values(globalsOf).flat()))
})

describe('a project of isobot init', () => {
  let isobot: CommandLine
  let folder: string
  beforeAll(async () => {
    isobot = await openCommandLine()
    await isobot.json('init', 'greeter')
    folder = join(isobot.folder, 'greeter')
  })
  afterAll(() => isobot?.[Symbol.asyncDispose]())

  test('has right types, those of isobot among them', async () => {
    const compiler = join(root, 'node_modules', '.bin', 'tsc')
    await promisify(execFile)(compiler, ['--skipLibCheck', 'false'], { cwd: folder })
    const operations = botOperations.map(({ name }) => `void client.${name}`)
    const code = `import type { Context } from 'isobot/bot'\nexport function all({ client }: Context) { ${operations.join('; ')} }`
    expect(await problemsOf(code)).toEqual([])
  })

  test('gets errors for wrong fields of a flow, and may use functions in place of expressions', async () => {
    const cards = [
      `{ id: 'a', type: 'say', message: 'Hello', variants: [({ user }) => String(user.visits), { type: 'image', imageUrl: '{{user.face}}' }] },`,
      `{ id: 'b', type: 'choice', options: [{ label: 'A', value: 'a' }], variable: 'temp.a', ports: { a: 'first', other: null } },`,
      `{ id: 'c', type: 'capture', variable: 'user.age', kind: 'integer', validate: ({ value }) => value > 17, ports: { failed: null } },`,
      `{ id: 'd', type: 'condition', if: ({ event, now }) => event.payload.total > now.getTime(), ports: { true: 'other/' } },`,
      `{ id: 'e', type: 'set', values: { 'workflow.list': [1, ({ workflow }) => workflow.count, { a: null }] } },`,
      `{ id: 'f', type: 'code', code: async ({ client, state, logger }) => { logger.info(state.user); await client.getUser({ id: '' }); return 'done' }, ports: { done: 'first' } },`,
      `{ id: 'g', type: 'say', »mesage: 'Hello' },`,
      `{ id: 'h', »type: 'sy', message: 'Hello' },`,
      `{ id: 'i', type: 'capture', »variable: 'age' },`,
      `{ id: 'j', type: 'condition', if: () => true, ports: { »yes: null } },`,
      `{ id: 'k', type: 'wait', »seconds: '5' },`,
      `{ id: 'l', type: 'code', »code: 'return 1' },`,
    ]
    const code = [
      `import type { Flow } from 'isobot/bot'`,
      `export const flows: Flow[] = [{ id: 'main', start: 'first', nodes: [{ id: 'first', cards: [`,
      ...cards.map((card) => card.replace('»', '')),
      `] }], triggers: [{ id: 'a', event: 'shipped', filter: ({ event }) => event.payload.count > 1 }] }]`,
    ].join('\n')
    const faults = ['TS2561', 'TS2322', 'TS2322', 'TS2353', 'TS2322', 'TS2322']
    const positions = cards.flatMap((card, index) => {
      return card.includes('»') ? [[index + 3, card.indexOf('»') + 1]] : []
    })
    expect(await problemsOf(code)).toEqual(positions.map((position, index) => [...position, faults[index]]))
  })

  test('gets an error at each use of the platform that does not exist', async () => {
    const wrong = [
      ['event.»previw', 'TS2551'],
      ['if (event.payload.type === "image") event.payload.»text', 'TS2339'],
      ['if (»event.type === "orderShipped") return', 'TS2367'],
      ['state.user.»visitz = 1', 'TS2551'],
      ['env.»SECRET_OTHER', 'TS2339'],
      ['void client.»createMesage({})', 'TS2551'],
      ['void client.getUser({ »ids: event.userId })', 'TS2353'],
      [
        'void client.createMessage({ conversationId: event.conversationId, »type: "txt", payload: { text: "" } })',
        'TS2820',
      ],
      [
        'void client.createMessage({ conversationId: event.conversationId, type: "text", payload: { »txt: "" } })',
        'TS2353',
      ],
      ['void client.createEvent({ »type: 1, payload: {} })', 'TS2322'],
      ['void client.callAction({ »type: "great", input: { visits: 1 } })', 'TS2322'],
      ['void client.callAction({ type: "greet", input: { »visits: "1" } })', 'TS2322'],
      ['const { output } = await client.callAction({ type: "greet", input: { visits: 1 } }); output.»txt', 'TS2551'],
      ['new »XMLHttpRequest()', 'TS2304'],
      ['»process.env', 'TS2591'],
      ['»document.title', 'TS2584'],
    ] as const
    const lines = wrong.map(([line]) => line.replace('»', ''))
    const code = [
      `import type { Hooks } from 'isobot/bot'; declare module 'isobot/bot' { interface Secrets { API_KEY: string } }`,
      'export const hooks: Hooks = { async afterIncomingMessage({ event, client, state, env }) {',
      ...lines,
      '} }',
    ].join('\n')
    const positions = wrong.map(([line, fault], index) => {
      return [index + 3, line.indexOf('»') + 1, fault]
    })
    expect(await problemsOf(code)).toEqual(positions)
  })

  test.each([
    ['a hook that does not exist', 'export const hooks: Hooks = { afterIncomingMesage() {} }', [2, 31, 'TS2561']],
    [
      'a hook that stops by a word',
      `export const hooks: Hooks = { afterTurnEnd: () => ({ stop: 'yes' }) }`,
      [2, 31, 'TS2322'],
    ],
    [
      'a payload that is none of its event',
      `export const hooks: Hooks = { afterIncomingEvent({ event }) { if (event.type === 'paid') event.payload.amont } }
       declare module 'isobot/bot' { interface Events { paid: { amount: number } } }`,
      [2, 104, 'TS2551'],
    ],
  ])('is told of %s', async (_what, code, place) => {
    expect(await problemsOf(`import type { Hooks } from 'isobot/bot'\n${code}`)).toEqual([place])
  })

  /** The places of what the compiler finds in a module, and the codes of it. */
  async function problemsOf(code: string) {
    const file = join(folder, 'src', 'module.ts')
    await writeFile(file, code)
    const problems = await checkTypes({ folder })
    return problems!.map(({ line, column, message }) => [line, column, message.split(':')[0]])
  }
})

interface DeclaredGlobal {
  name: string
  /** Of its instances, or of itself where it is a variable. */
  members: string[]
  statics: string[]
}

/** The statements that look for a global and its members in an isolate. */
function lookFor({ name, members, statics }: DeclaredGlobal): string[] {
  const positions = `[typeof ${name} === 'function' && ${name}.prototype, ${name}]`
  return [
    `if (typeof ${name} === 'undefined') missing.push('${name}')`,
    ...members.map((member) => `look('${name}.${member}', ${positions}, '${member}')`),
    ...statics.map((member) => `look('static ${name}.${member}', [${name}], '${member}')`),
  ]
}

/** Reads what the hand-written part declares, which is a line for each name and for each member. */
function readGlobals(text: string): DeclaredGlobal[] {
  const found: DeclaredGlobal[] = []
  let current: DeclaredGlobal | undefined
  for (const line of text.split('\n')) {
    const [, kind, name] = /^declare (function|var|class) (\w+)/.exec(line) ?? []
    if (name !== undefined) found.push({ name, members: [], statics: [] })
    if (/^\S/.test(line)) current = kind === 'var' || kind === 'class' ? found.at(-1) : undefined
    const [, isStatic, member] = /^ {2}(static )?(?:readonly )?(\w+)[?(<:]/.exec(line) ?? []
    if (current && member !== undefined && member !== 'constructor') {
      current[isStatic ? 'statics' : 'members'].push(member)
    }
  }
  return found
}
