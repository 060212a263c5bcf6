import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { installCode, logOf } from '../../support/install-code.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ environment: { SANDBOX_CPU_MS: '300', SANDBOX_LOG_LINES: '6' } })
})
afterAll(() => platform[Symbol.asyncDispose]())

interface Bundle {
  code: string
  sourceMap: string
}

/** The output of esbuild for an author's files, the first of which is the entry. */
function bundle(files: Record<string, string>): Bundle {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const { outputFiles } = buildSync({
    entryPoints: [join(folder, Object.keys(files)[0]!)],
    outfile: join(folder, 'bot.js'),
    bundle: true,
    write: false,
    minify: true,
    keepNames: true,
    format: 'esm',
    sourcemap: 'external',
  })
  const [map, code] = outputFiles.map(({ text }) => text)
  return { code: code!, sourceMap: map! }
}

async function createBot(fields: { code: string; sourceMap?: string }): Promise<{ id: string; chatUrl: string }> {
  const { body, status } = await platform.ask('POST', '/v1/admin/bots', fields)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { id: body.bot.id, chatUrl: body.bot.integrations.chat.webhookUrl }
}

/** Says something to a bot; gives why the event of that failed, and the bot's log. */
async function wake({ id, chatUrl }: { id: string; chatUrl: string }) {
  const before = await platform.context.db('events').where({ bot_id: id }).pluck('id')
  const chatUser = await createChatUser(chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'go')
  const events = await endedEvents(platform, id, before.length + 1)
  const { failure_reason: reason } = events.find((event) => !before.includes(event.id))!
  return { reason, log: await logOf(platform, id) }
}

const files = {
  'src/index.ts': `import { answer } from './hooks/answer.ts'
    export const hooks = { afterIncomingMessage: [() => {}, answer] }`,
  'src/hooks/answer.ts': `import { fetchPrice } from '../prices.ts'
    interface Given { event: { preview: string } }
    export async function answer({ event }: Given) {
      try {
        await fetchPrice(event.preview)
      } catch (cause) {
        throw new TypeError('no price today', { cause })
      }
    }`,
  'src/prices.ts': `// A comment that no bundle has.
    export async function fetchPrice(name: string) { await null; throw new RangeError(\`nothing costs \${name}\`) }`,
}

const lines = [
  'error afterIncomingMessage: RangeError: nothing costs go, which led to TypeError: no price today',
  '    at Object.answer (src/hooks/answer.ts:7:15)',
  'Caused by: RangeError: nothing costs go',
  '    at fetchPrice (src/prices.ts:2:72)',
  '    at async Object.answer (src/hooks/answer.ts:5:9)',
]

describe('an error in a minified bundle names its hook, its causes and the author’s own files', () => {
  test.each(['beside the code', 'in its last line'])('when the source map is %s', async (place) => {
    const { code, sourceMap } = bundle(files)
    const inline = `${code}//# sourceMappingURL=data:application/json;base64,${Buffer.from(sourceMap).toString('base64')}\n`
    const { reason, log } = await wake(
      await createBot(place === 'beside the code' ? { code, sourceMap } : { code: inline }),
    )
    expect(reason).toBe('afterIncomingMessage: RangeError: nothing costs go, which led to TypeError: no price today')
    expect(log.join('\n').split('\n')).toEqual(lines)
  })

  test('at upload as well', async () => {
    const { code, sourceMap } = bundle({ 'src/start.ts': 'export const hooks = {}\n\n  undefinedName.go()' })
    expect(await platform.ask('POST', '/v1/admin/bots', { code, sourceMap })).toMatchObject({
      status: 400,
      body: {
        message: 'src/start.ts:3:3: ReferenceError: undefinedName is not defined',
        metadata: { file: 'src/start.ts', line: 3, column: 3 },
      },
    })
  })

  test('and so does what takes too long, with its figure', async () => {
    const { code, sourceMap } = bundle({
      'a.ts': 'export const hooks = { async afterIncomingMessage() { await null; for (;;); } }',
    })
    expect((await wake(await createBot({ code, sourceMap }))).reason).toMatch(
      /^cpu: .*\b300 ms.*limits\.cpuMilliseconds.*SANDBOX_MAX_CPU_MS/,
    )
  })
})

describe('a call that fails without being awaited is logged with the place of the call, in the author’s own files', () => {
  test.for([
    ['that the platform refuses', `client.createMessage({ conversationId: 'none' })`],
    ['that has no hooks', `client.getUser({ id: 'none' })`],
    ['of an action that fails', `client.callAction({ type: 'fail', input: {} })`],
    ['with an input that is none', `client.createMessage('hello')`],
    ['of a message stream', `client.streamMessage('none').write('hello')`],
    ['of a fetch', `fetch('http://127.0.0.1:9/')`],
  ] as const)('%s', async ([, expression]) => {
    const bundled = bundle({
      'src/index.ts': `import { send } from './send.ts'
        export const actions = { fail() { throw new Error('it fails') } }
        export const hooks = { async afterIncomingMessage({ client }: any) {
          await null
          send(client)
        } }`,
      'src/send.ts': `// A comment that no bundle has.
        export function send(client: any) {
          ${expression}
        }`,
    })
    const { log } = await wake(await createBot(bundled))
    const [said, ...frames] = log.find((line) => line.includes('Unhandled rejection'))!.split('\n')
    expect(said).toMatch(/^error Unhandled rejection: (?:Type)?Error: ./)
    expect(frames.slice(0, 2)).toEqual([
      expect.stringMatching(/^ {4}at send \(src\/send\.ts:3:\d+\)$/),
      expect.stringMatching(/^ {4}at .*afterIncomingMessage.* \(src\/index\.ts:5:\d+\)$/),
    ])
  })
})

describe('a failure without being awaited is logged in the turn in which the run ends', () => {
  test.for([
    ['of a call that the isolate refuses', `client.createMessage({ payload: { text: 'x'.repeat(2e6) } })`],
    ['of an async function', `(async () => { throw new Error('of a function') })()`],
    ['of a promise', `void Promise.reject(new Error('of a promise'))`],
    ['of a function that goes on after the hook', `(async () => { await null; await null; null.property })()`],
    ['of an action', `await client.callAction({ type: 'forget', input: {} })`],
    ['beside an error of the hook', `void Promise.reject(new Error('beside')); throw new Error('of the hook')`],
  ] as const)('%s', async ([, statement]) => {
    const { log } = await wake(
      await createBot({
        code: `export const hooks = { async afterIncomingMessage({ client }) { ${statement} } }
          export const actions = { forget() { void Promise.reject(new Error('of an action')); return {} } }`,
      }),
    )
    expect(log.filter((line) => line.includes('Unhandled rejection'))).toEqual([
      expect.stringMatching(/^error Unhandled rejection: (?:Type)?Error: .+\n {4}at .*bot\.ts:\d+:\d+/),
    ])
  })

  test('in a bot with an isolate for each event', async () => {
    const { log } = await wake(
      await createBot({
        code: `export const isolation = 'event'
          export const hooks = { afterIncomingMessage() { void Promise.reject(new Error('alone')) } }`,
      }),
    )
    expect(log.join('\n')).toMatch(/^error Unhandled rejection: Error: alone$/m)
  })
})

test('an error that a bot logs itself names the author’s own files', async () => {
  const bundled = bundle({
    'src/index.ts': `export const hooks = { afterIncomingMessage() {
        console.error(new Error('seen')) } }`,
  })
  const { log } = await wake(await createBot(bundled))
  expect(log.join('\n')).toMatch(/^error .*Error: seen\n {4}at .*\(src\/index\.ts:2:\d+\)/)
})

describe('the deepest cause of an error comes first', () => {
  test.for([
    [
      'of a chain',
      `throw new Error('Connection error.', { cause: new TypeError('fetch failed', { cause: new Error('no host') }) })`,
      'Error: no host, which led to Error: Connection error.',
    ],
    [
      'of several errors, that of the first',
      `throw new AggregateError(
         [new Error('one', { cause: new RangeError('deep') }), new Error('two', { cause: new Error('other') })], 'all')`,
      'RangeError: deep, which led to AggregateError: all',
    ],
    [
      'that is no error',
      `throw new Error('it failed', { cause: 'the key is wrong' })`,
      'the key is wrong, which led to Error: it failed',
    ],
    [
      'unless the error says it already',
      `throw new Error('failed: no host', { cause: new Error('no host') })`,
      'Error: failed: no host',
    ],
    ['and an error without one stays as it is', `throw new Error('alone')`, 'Error: alone'],
  ] as const)('%s', async ([, statement, said]) => {
    const bot = await createBot({ code: `export const hooks = { async afterIncomingMessage() { ${statement} } }` })
    const { reason } = await wake(bot)
    expect(reason).toBe(`afterIncomingMessage: ${said}`)
    const { body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}/errors`)
    expect(body.errors).toMatchObject([{ example: reason, message: reason }])
  })
})

const calling = (type: string) => `
  export const hooks = {
    async afterIncomingMessage({ client, logger }) {
      logger.info('before')
      await client.callAction({ type: '${type}', input: {} }).catch((error) => logger.warn(error.message))
      logger.info('after')
    },
  }`
const acting = `
  export const actions = {
    fail({ logger }) { logger.info('within'); null.property },
    babble({ logger }) { for (let line = 1; line < 100; line += 1) logger.info(line) },
  }`

describe('the log of an action', () => {
  test('is in the bot’s log in its place, with where it failed though the bot goes on', async () => {
    const { reason, log } = await wake(await createBot({ code: calling('fail') + acting }))
    expect(reason).toBeNull()
    expect(log).toEqual([
      'info before',
      'info within',
      expect.stringMatching(/^error The action 'fail' failed: TypeError: .*\n {4}at .*\(bot\.ts:10:52\)/),
      expect.stringMatching(/^warn The action 'fail' failed: /),
      'info after',
    ])
  })

  test('of an integration likewise, and the log of an event is cut once for all', async () => {
    const bot = await createBot({ code: calling('tool:babble') })
    await installCode(platform, bot.id, acting)
    const { log } = await wake(bot)
    expect(log.slice(log.indexOf('info before'))).toEqual([
      'info before',
      ...[1, 2, 3, 4, 5].map((line) => `info ${line}`),
      expect.stringMatching(/^warn logs: .*\b6 lines/),
    ])
  })
})

test('an upload that imports what is not in it is refused by its line, though nothing of it runs by itself', async () => {
  const code = `const later = async () => import('left-pad')\nexport const hooks = { afterTurnEnd: later }`
  const { id } = await createBot({ code: 'export const hooks = {}' })
  const integration = { name: 'left-pad-tool', version: '1.0.0', code }
  for (const answer of [
    await platform.ask('PUT', `/v1/admin/bots/${id}`, { code }),
    await platform.ask('POST', '/v1/admin/integrations', integration),
  ]) {
    expect(answer).toMatchObject({ status: 400, body: { metadata: { file: 'bot.ts', line: 1, column: 34 } } })
    expect(answer.body.message).toMatch(/^bot\.ts:1:34: it imports 'left-pad'.*bundle the dependencies.*esbuild/)
  }
})

test.each([
  ['missing', 'import(name)'],
  ['node:fs', 'require(name)'],
])('a module %s that is named only when the code runs is an error that says what to do', async (name, load) => {
  const code = `export const hooks = { async afterIncomingMessage() { const name = '${name}'; await ${load} } }`
  const { reason } = await wake(await createBot({ code }))
  expect(reason).toBe(
    `afterIncomingMessage: Error: Cannot find module '${name.replace('node:', '')}': it is not in the bundle, and isolates provide only modules of Node that the bundle names in a call, such as require('util') (docs/node-modules.md)`,
  )
})
