import { once } from 'node:events'
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventObject } from '#shared/models/event-object.ts'
import { connect, type Connection } from '../../cli/connection.ts'
import { openBundler } from '../../cli/project/bundle.ts'
import { deployProject, type Deployed, type DeployOptions } from '../../cli/project/deploy.ts'
import { initProject } from '../../cli/project/init.ts'
import { refreshPlatformFiles } from '../../cli/project/platform-files.ts'
import { openProject, rememberBot } from '../../cli/project/project.ts'
import { describeDeployed, showDeployed } from '../../cli/project/show-deployed.ts'
import { watchProject } from '../../cli/project/watch.ts'
import { watchFolders } from '../../cli/watch-folders.ts'
import { findCode } from '../../cli/dry-run/find-code.ts'
import { showResult } from '../../cli/dry-run/show-result.ts'
import { openDryRun } from '../../cli/dry-run/dry-run.ts'
import type { DryRunResult } from '../../cli/dry-run/result.ts'
import { createChatUser } from '../support/chat-client.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { launcher, openCommandLine, type CommandLine } from './command-line.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let isobot: CommandLine
let connection: Connection
beforeAll(async () => {
  platform = parts.use(await openPlatform())
  isobot = parts.use(await openCommandLine(platform))
  connection = await connect({ name: 'tests', url: platform.url, token: platform.token })
})
afterAll(() => parts.disposeAsync())

/** Makes a project with this source. Gives its folder. */
async function createProject(name: string, source: string): Promise<string> {
  const { folder } = await initProject(join(isobot.folder, name))
  await writeSources(folder, { 'src/index.ts': source })
  return folder
}

async function writeSources(folder: string, files: Record<string, string>): Promise<void> {
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text)
}

/** Deploys like `isobot deploy`, in this process. */
async function deploy(folder: string, options: Partial<DeployOptions> = {}, on = connection) {
  const project = await openProject(folder)
  await using bundler = await openBundler(project)
  return await deployProject(project, on, bundler, { checksTypes: false, ...options })
}

/** A bot that answers with what an expression of the event comes to. */
function answering(expression: string): string {
  return `import type { Hooks } from 'isobot/bot'
export const hooks: Hooks = {
  async afterIncomingMessage({ event, client, logger }) {
    logger.info('heard', event.preview)
    const text: string = ${expression}
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
  },
}
`
}

interface Shown {
  bot: { id: string; name: string }
  isNew: boolean
  version: { id: string; hooks: string[]; actions: string[] }
  chatUrl: string
}

/** The replies of a bot to a new user. */
async function tell({ bot, chatUrl }: Pick<Shown, 'bot' | 'chatUrl'>, text: string): Promise<string[]> {
  const chatUser = await createChatUser(chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, text)
  await endedEvents(platform, bot.id, 1)
  await expect.poll(() => replies(platform, conversationId)).not.toEqual([])
  return replies(platform, conversationId)
}

describe('init', () => {
  test('makes a project whose own tests pass; tests that fail end with 1', async () => {
    const { folder } = await isobot.json<{ folder: string }>('init', 'greeter')
    const passed = await isobot.run(['test'], { directory: folder })
    expect(passed).toMatchObject({ code: 0 })
    expect(passed.stdout).toMatch(/pass 2\n.*fail 0/)
    await writeSources(folder, { 'test/failing.test.js': `import 'isobot/test'; throw new Error('it fails')` })
    const failing = await isobot.run(['test', 'test/failing.test.js'], { directory: folder })
    expect(failing).toMatchObject({ code: 1, stdout: expect.stringContaining('it fails') })
  })

  test('makes a project whose tests are found in a folder with signs of patterns in its name', async () => {
    await mkdir(join(isobot.folder, 'bots [old] {a,b}'))
    const { folder } = await isobot.json<{ folder: string }>('init', 'bots [old] {a,b}/greeter')
    expect(await isobot.run(['test'], { directory: join(folder, 'src') })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/pass 2\n.*fail 0/),
    })
  })

  test('brings the types of the platform into a project, but not into what a link there leads to', async () => {
    const { folder } = await initProject(join(isobot.folder, 'linked'))
    const types = join(folder, 'types', 'isobot-bot.d.ts')
    const written = await readFile(types, 'utf8')
    const other = join(isobot.folder, 'other.txt')
    await writeFile(other, 'mine')
    await rm(types)
    await symlink(other, types)
    await refreshPlatformFiles(folder)
    expect(await readFile(other, 'utf8')).toBe('mine')
    expect(await readFile(types, 'utf8')).toBe(written)
  })

  test('refuses a folder that is not empty, and names that are none', async () => {
    const full = join(isobot.folder, 'full')
    await mkdir(full)
    await writeSources(full, { 'notes.txt': 'mine' })
    const refused = await isobot.run(['init', 'full'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('is not empty')
    expect(await isobot.run(['init', 'Order Desk'])).toMatchObject({ code: 2, stdout: '' })
    for (const name of ['.hidden', 'ä', 'full/Y']) {
      await expect(initProject(join(isobot.folder, name))).rejects.toMatchObject({ exitCode: 2 })
    }
  })
})

describe('deploy', () => {
  test('records the bot in isobot.json as it is by then, with a byte-order mark at its start or not', async () => {
    const folder = await createProject('edited', answering('`One`'))
    const file = join(folder, 'isobot.json')
    const settings = JSON.parse(await readFile(file, 'utf8')) as object
    await writeFile(file, `\uFEFF${JSON.stringify(settings)}`)
    const project = await openProject(folder)
    // A person edits it while the project is deployed.
    await writeFile(file, JSON.stringify({ ...settings, limits: { memoryMegabytes: 64 } }))
    await rememberBot(project, 'https://bots.example.com', 'bot_1')
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      limits: { memoryMegabytes: 64 },
      bots: { 'https://bots.example.com': 'bot_1' },
    })
    await writeFile(file, '{ "name": "edited", ')
    const failure = await rememberBot(project, 'https://bots.example.com', 'bot_2').catch((error: unknown) => error)
    expect(failure).toMatchObject({ message: expect.stringContaining('is deployed as bot_2') })
    expect(await readFile(file, 'utf8')).toBe('{ "name": "edited", ')
  })

  test('makes a bot the first time, and then new versions of it', async () => {
    const folder = await createProject('desk', answering('`One: ${event.preview}`'))
    const first = await isobot.json<Shown>('deploy', folder)
    expect(first).toMatchObject({ isNew: true, checkedTypes: true, bot: { name: 'desk' } })
    expect(first.version.hooks).toEqual(['afterIncomingMessage'])
    expect(await tell(first, 'Hi')).toEqual(['One: Hi'])
    expect(JSON.parse(await readFile(join(folder, 'isobot.json'), 'utf8'))).toEqual({
      name: 'desk',
      permissions: { net: [] },
      bots: { [platform.url]: first.bot.id },
    })

    await writeFile(join(folder, 'src', 'text.ts'), `export const two = 'Two'`)
    const source = `import { two } from './text'\n${answering('`${two}: ${event.preview}`')}`
    await writeFile(join(folder, 'src', 'index.ts'), source)
    const second = await isobot.json<Shown>('deploy', folder, '--allow-net', 'api.example.com, *.example.org')
    expect(second).toMatchObject({ isNew: false, bot: first.bot })
    expect(second.version.id).not.toBe(first.version.id)
    expect(await tell(second, 'Hi')).toEqual(['Two: Hi'])
    const { body } = await platform.ask('GET', `/v1/admin/bots/${first.bot.id}`)
    expect(body.bot.permissions).toEqual({ net: ['api.example.com', '*.example.org'] })
    const third = (await deploy(folder)) as Deployed
    expect(showDeployed(third)).toMatch(/^Deployed desk in [\d.]+ s\n.*bot +bot_\w+\n.*version +botver_\w+/)
  })

  test('takes the bot of the README, which has no types', async () => {
    const readme = await readFile(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')
    const [source] = /^export const hooks = \{\n.*?(?=^```)/ms.exec(readme)!
    const folder = await createProject('untyped', source)
    const deployed = await isobot.json<Shown>('deploy', folder)
    expect(await tell(deployed, 'Hi')).toEqual(['Hello! You said: Hi'])
  })

  test('warns of code that runs what models write', async () => {
    const source = `globalThis.process?.env?.USE_QUICKJS\nexport const actions = { run: () => ({}) }`
    const deployed = await isobot.run(['deploy', await createProject('runner', source), '--no-types'])
    expect(deployed).toMatchObject({ code: 0, stderr: expect.stringMatching(/Warning: .*code that models write/) })
  })

  test('shows where the source is wrong, and leaves the version in service', async () => {
    const folder = await createProject('wrong', answering('event.preview'))
    const cases: [files: Record<string, string>, file: string, line: number, column: number, message: RegExp][] = [
      [{ 'src/index.ts': answering('event.previw') }, 'src/index.ts', 5, 32, /^TS2551: Property 'previw'/],
      [
        { 'src/index.ts': 'export const hooks = {\n  afterTurnEnd() { return ( }\n}' },
        'src/index.ts',
        2,
        29,
        /^Unexpected "}"/,
      ],
      [
        { 'src/index.ts': `\nimport { two } from './two'\nconsole.log(two)` },
        'src/index.ts',
        2,
        21,
        /^There is no file .\/two/,
      ],
      [
        { 'src/index.ts': `import { readFile } from 'node:fs'\nconsole.log(readFile)` },
        'src/index.ts',
        1,
        26,
        /^It imports 'node:fs', which does not work: isolates have no files/,
      ],
      [
        { 'src/index.ts': `import { pad } from '@left/pad/web'\nconsole.log(pad)` },
        'src/index.ts',
        1,
        21,
        /^There is no package '@left\/pad\/web': .*`npm install @left\/pad`/,
      ],
      [
        {
          'src/index.ts': `import { price } from './price'\nexport const hooks = { afterTurnEnd() { price } }`,
          'src/price.ts': `export const price = of(12)\n\nfunction of(figure: number) {\n  throw new RangeError('no ' + figure)\n}`,
        },
        'src/price.ts',
        4,
        9,
        /^RangeError: no 12/,
      ],
      [
        { 'src/index.ts': 'const first = 1\n\nexport const hooks = {\n  afterwards() { return first }\n}' },
        'src/index.ts',
        4,
        3,
        /afterwards/,
      ],
    ]
    for (const [files, file, line, column, message] of cases) {
      await writeSources(folder, files)
      const { problems } = (await deploy(folder, { checksTypes: String(message).includes('TS') })) as {
        problems: object[]
      }
      expect(problems[0]).toEqual({ file, line, column, message: expect.stringMatching(message) })
    }
    await writeSources(folder, { 'src/index.ts': '' })
    const empty = await isobot.run(['deploy', folder])
    expect(empty).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\n\n(TypeError: )?The module exports nothing/),
    })
    await rm(join(folder, 'src', 'index.ts'))
    const missing = await isobot.run(['deploy', folder])
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no file src/index.ts') })
    await writeSources(folder, cases.at(-1)![0])
    const [, file, line, column] = cases.at(-1)!
    const shown = await isobot.run(['deploy', folder, '--no-types'])
    expect(shown).toMatchObject({ code: 1, stdout: '' })
    const marked = `${file}:${line}:${column}: [^\n]*\n[^]*> +${line} \\|[^\n]*\n +\\| ${' '.repeat(column - 1)}\\^`
    expect(shown.stderr).toMatch(new RegExp(marked))
    expect((await platform.ask('GET', '/v1/admin/bots')).body.bots).not.toContainEqual(
      expect.objectContaining({ name: 'wrong' }),
    )
  })

  test('does not touch a bot of the same name that is another’s, unless it is named', async () => {
    const { body } = await platform.ask('POST', '/v1/admin/bots', { name: 'taken' })
    const folder = await createProject('taken', answering('event.preview'))
    const refused = await isobot.run(['deploy', folder, '--no-types'])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(`--bot ${body.bot.id}`)
    expect(await deploy(folder, { bot: 'taken' })).toMatchObject({ isNew: false, bot: { id: body.bot.id } })
    await platform.ask('DELETE', `/v1/admin/bots/${body.bot.id}`)
    const renewed = await deploy(folder)
    expect(renewed).toMatchObject({ isNew: true, bot: { name: 'taken', id: expect.not.stringMatching(body.bot.id) } })
  })

  test('asks before a version without hooks replaces one that has some, and without a terminal says what would be lost', async () => {
    const folder = await createProject('mute', answering('event.preview'))
    const { bot, version } = await isobot.json<Shown>('deploy', folder, '--no-types')
    const inService = async () => (await platform.ask('GET', `/v1/admin/bots/${bot.id}`)).body.bot.version

    await writeSources(folder, { 'src/index.ts': `export const actions = { greet() {} }` })
    const unasked = await isobot.run(['deploy', folder, '--no-types'])
    expect(unasked).toMatchObject({ code: 2, stdout: '' })
    expect(unasked.stderr).toContain('has afterIncomingMessage')
    expect(unasked.stderr).toContain('confirm with --yes')
    await expect(deploy(folder)).rejects.toMatchObject({ message: expect.stringContaining('isobot deploy --yes') })
    expect((await inService()).id).toBe(version.id)

    const asked = isobot.startOther(atTerminal(['deploy', folder, '--no-types']))
    await expect.poll(asked.stdout, { timeout: 20_000 }).toContain('Replace the version that has afterIncomingMessage?')
    asked.child.stdin.write('n\r')
    expect(await asked.ended).toMatchObject({ code: 1 })
    expect((await inService()).id).toBe(version.id)

    const sure = isobot.startOther(atTerminal(['deploy', folder, '--no-types']))
    await expect.poll(sure.stdout, { timeout: 20_000 }).toContain('Replace the version')
    sure.child.stdin.write('y\r')
    expect(await sure.ended).toMatchObject({ code: 0 })
    expect(await inService()).toMatchObject({ hooks: [], actions: ['greet'] })

    await writeSources(folder, { 'src/index.ts': `export const hooks = {}` })
    expect(await isobot.run(['deploy', folder, '--no-types'])).toMatchObject({ code: 2 })
    expect(await isobot.json<Shown>('deploy', folder, '--no-types', '--yes')).toMatchObject({ version: { hooks: [] } })
  })

  test('works on a platform of an earlier version, which has no field for code without hooks', async () => {
    const folder = await createProject('timeless', answering('event.preview'))
    const { bot } = (await deploy(folder)) as Deployed
    await writeSources(folder, { 'src/index.ts': `export const actions = { greet() {} }` })
    // The platform refuses each field that it does not have; the earlier version's refusal differs in the name alone.
    const ask = (async (method, path, request) => {
      const body = JSON.parse(JSON.stringify(request?.body ?? {}).replace('allowNoHooks', 'unknownField')) as object
      return connection.ask(method, path, { ...request, ...(method === 'PUT' && { body }) }).catch((error: Error) => {
        error.message = error.message.replace('unknownField', 'allowNoHooks')
        throw error
      })
    }) as Connection['ask']
    const updated = await deploy(folder, {}, { ...connection, ask })
    expect(updated).toMatchObject({ bot: { id: bot.id, version: { hooks: [], actions: ['greet'] } } })
  })

  test('of a project that exports no hooks and no actions says what a bot exports', async () => {
    const folder = await createProject(
      'hidden',
      `const hooks = { afterIncomingMessage() {} }\nexport default { hooks }`,
    )
    const refused = await isobot.run(['deploy', folder, '--no-types'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(
      /exports nothing that the platform calls, but default\. A bot exports at least one of/,
    )
  })

  test('outside of a project says what to do', async () => {
    await expect(openProject(isobot.folder)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('isobot init'),
    })
  })
})

/** A command at a terminal of its own. */
function atTerminal(parameters: readonly string[]): string[] {
  const command = [process.execPath, launcher, ...parameters].map((part) => `'${part}'`).join(' ')
  return ['script', '--quiet', '--return', '--flush', '--command', command, '/dev/null']
}

/** A line that `isobot dev --json` prints. */
interface Item {
  kind: string
  isNew: boolean
  level: string
  message: string
  payload: { text: string }
  problems: object[]
}

test('dev watches no files of a platform that runs in the folder of the project', async () => {
  const folder = join(isobot.folder, 'beside-a-platform')
  const data = join(folder, '.isobot', 'postgres')
  await mkdir(data, { recursive: true })
  await mkdir(join(folder, 'src'))
  const changes = { ofProject: 0, ofData: 0 }
  await using watched = new AsyncDisposableStack()
  watched.use(await watchProject(folder, () => void (changes.ofProject += 1)))
  watched.use(await watchFolders([data], [], () => void (changes.ofData += 1)))
  await writeFile(join(data, 'wal'), 'written')
  await expect.poll(() => changes.ofData).toBeGreaterThan(0)
  expect(changes.ofProject).toBe(0)
  await writeSources(folder, { 'src/index.ts': 'changed' })
  await expect.poll(() => changes.ofProject).toBeGreaterThan(0)
})

test('dev deploys what is changed, keeps what runs when it is wrong, shows the log and talks', async () => {
  const folder = await createProject('worked-on', answering('`One: ${event.preview}`'))
  const source = join(folder, 'src', 'index.ts')
  const { child, stdout, ended } = isobot.start(['dev', '--json'], { directory: folder })
  const items = (kind: string) => {
    const lines = stdout().split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as Item).filter((item) => item.kind === kind)
  }
  // As editors do: the file is there whole at once.
  const save = async (text: string) => {
    const draft = join(isobot.folder, 'draft.ts')
    await writeFile(draft, text)
    await rename(draft, source)
  }
  const said = () => items('message').map(({ payload }) => payload.text)
  const say = (text: string) => child.stdin.write(`${text}\n`)

  await expect.poll(() => items('deployed'), { timeout: 20_000 }).toHaveLength(1)
  say('a')
  await expect.poll(said, { timeout: 10_000 }).toEqual(['One: a'])
  await expect.poll(() => items('log').map(({ message }) => message), { timeout: 10_000 }).toContain('heard a')

  await save(answering('`Two: ${event.preview}`'))
  await expect.poll(() => items('deployed'), { timeout: 10_000 }).toHaveLength(2)
  expect(items('deployed')[1]!.isNew).toBe(false)
  say('b')
  await expect.poll(said, { timeout: 10_000 }).toEqual(['One: a', 'Two: b'])

  await save(answering('event.payload'))
  await expect.poll(() => items('problems'), { timeout: 10_000 }).toHaveLength(1)
  await save(answering('`Three: ${event.preview'))
  await expect.poll(() => items('problems'), { timeout: 10_000 }).toHaveLength(2)
  const [types, syntax] = items('problems').map(({ problems }) => problems[0])
  expect(types).toMatchObject({ file: 'src/index.ts', line: 5, column: 11, message: expect.stringMatching(/^TS2322/) })
  expect(syntax).toMatchObject({ file: 'src/index.ts', message: expect.stringMatching(/^(Expected|Unterminated)/) })
  say('c')
  await expect.poll(said, { timeout: 10_000 }).toEqual(['One: a', 'Two: b', 'Two: c'])

  await save(answering('`Two: ${event.preview}`'))
  await expect.poll(() => items('unchanged'), { timeout: 10_000 }).toHaveLength(1)
  expect(items('deployed')).toHaveLength(2)

  await save(answering(`(() => { throw new Error('Four') })()`))
  await expect.poll(() => items('deployed'), { timeout: 10_000 }).toHaveLength(3)
  say('d')
  const failures = () =>
    items('log')
      .filter(({ level }) => level === 'error')
      .map(({ message }) => message)
  await expect.poll(failures, { timeout: 10_000 }).toEqual([expect.stringMatching(/Error: Four\n.*src\/index\.ts:5:/)])

  child.kill('SIGINT')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
})

/** The violations of an event's schema. */
function faultsOf(event: unknown): string {
  const ajv = new Ajv({ allErrors: true })
  addFormats.default(ajv, ['date-time'])
  ajv.validate(eventObject, event)
  return ajv.errorsText()
}

describe('run', () => {
  const event = JSON.stringify({ payload: { type: 'text', text: 'Hi' }, state: { user: { visits: 2 } } })

  test('runs a hook of a project, a file or a deployed bot on an event that was recorded', async () => {
    const folder = await createProject('recorded', answering('JSON.stringify(event)'))
    const deployed = describeDeployed((await deploy(folder)) as Deployed) as Shown
    const [first] = await tell(deployed, 'Where is it?')
    const handled = JSON.parse(first!) as Record<string, unknown>
    // The events of bots agree with their types, which are made of the schema.
    expect(faultsOf(handled)).toBe('No errors')

    const shown = await isobot.json('events', 'recorded', 'show', String(handled['id']))
    const results: DryRunResult[] = []
    for (const named of [folder, join(folder, 'src', 'index.ts'), 'recorded']) {
      await using trial = await openDryRun(await findCode(named, async () => connection))
      results.push(await trial.run('afterIncomingMessage', shown))
      await expect(trial.run('afterTurnEnd', shown)).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('it has afterIncomingMessage'),
      })
    }
    for (const { calls } of results) {
      const { text } = calls[0]!.input['payload'] as { text: string }
      const seen = JSON.parse(text) as Record<string, unknown>
      const { id, conversationId, userId, payload, preview, createdOn } = handled
      expect(seen).toMatchObject({ id, conversationId, userId, payload, preview, createdOn })
      expect(faultsOf(seen)).toBe('No errors')
    }
    expect(await replies(platform, String(handled['conversationId']))).toHaveLength(1)
  })

  test('prints calls with their answers, requests, the log and the state', async () => {
    const file = join(isobot.folder, 'asking.ts')
    await writeFile(
      file,
      `export const hooks = {
        async afterIncomingMessage({ event, client, state, logger, env }) {
          state.user.visits += 1
          const { user } = await client.getUser({ id: event.userId })
          const { output } = await client.callAction({ type: 'double', input: { figure: 21 } })
          const order = await (await fetch('https://shop.example/orders/1')).json()
          logger.warn(user.name, output.figure, order.status, env.SECRET_KEY)
          await client.setState({ type: 'user', id: event.userId, name: 'cart', payload: { items: 1 } })
          logger.info((await client.getState({ type: 'user', id: event.userId, name: 'cart' })).state.payload.items)
          await client.getMessage({ id: event.messageId }).catch((error) => logger.info(error.type, error.code))
          await client.createMessage({ type: 'text', payload: {} }).catch((error) => logger.info(error.message))
          await fetch('https://elsewhere.example').catch((error) => logger.info(error.message))
        },
      }
      export const actions = { double: ({ input, client }) => ({ figure: input.figure * 2 }) }`,
    )
    const answers = join(isobot.folder, 'answers.json')
    await writeFile(
      answers,
      JSON.stringify({
        getUser: { user: { id: 'user_1', name: 'Grace' } },
        getMessage: { error: 'ResourceNotFound' },
        fetch: { 'GET https://shop.example/orders/1': { body: { status: 'sent' } } },
      }),
    )
    const command = ['run', file, 'afterIncomingMessage', '-', '--answers', answers]
    const environment = { SECRET_KEY: 'sesame' }
    const printed = await isobot.run([...command, '--json'], { input: event, environment })
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    const result = JSON.parse(printed.stdout) as DryRunResult
    expect(result).toMatchObject({
      status: 'done',
      state: { user: { visits: 3 } },
      calls: [
        { operation: 'getUser', source: 'given', answer: { user: { name: 'Grace' } } },
        { operation: 'callAction', source: 'own', answer: { output: { figure: 42 } } },
        { operation: 'setState', source: 'made up' },
        { operation: 'getState', source: 'made up', answer: { state: { payload: { items: 1 } } } },
        { operation: 'getMessage', refusal: { type: 'ResourceNotFound' } },
        {
          operation: 'createMessage',
          refusal: { type: 'InvalidPayload', message: expect.stringContaining('conversationId') },
        },
      ],
      fetches: [
        { url: 'https://shop.example/orders/1', status: 200 },
        { failure: expect.stringContaining('--allow-fetch') },
      ],
    })
    const logged = result.logs.map(({ message }) => message)
    expect(logged).toEqual(expect.arrayContaining(['Grace 42 sent ***', '1', 'ResourceNotFound 404']))
    expect(showResult(result)).toMatch(
      /^Calls\n {2}getUser \{.*\n {4}given \{.*Grace[^]*Log\n[^]* {2}warn +Grace 42[^]*Done in \d+ ms/,
    )
  })

  test('refuses answers that would never be given, or whose content would be lost', async () => {
    const file = join(isobot.folder, 'answered.ts')
    await writeFile(file, 'export const hooks = { afterIncomingMessage() {} }')
    const run = async (answers: object) => {
      const path = join(isobot.folder, 'wrong-answers.json')
      await writeFile(path, JSON.stringify(answers))
      return isobot.run(['run', file, 'afterIncomingMessage', '-', '--answers', path], { input: '{}' })
    }
    const misspelt = await run({ getUsr: { user: { id: 'user_1' } } })
    expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean 'getUser'?") })
    const bare = await run({ fetch: { 'GET https://shop.example': { items: [] } } })
    expect(bare).toMatchObject({ code: 2, stderr: expect.stringContaining('{ "body": … }') })
  })

  test('prints nothing of what the code says that would command the terminal', async () => {
    const file = join(isobot.folder, 'hostile.js')
    await writeFile(
      file,
      String.raw`export const hooks = {
        async afterIncomingMessage({ client, logger }) {
          logger.info('\u001b]0;mine\u0007 \u009b2J')
          await client.getUser({ id: '\u009b2J' })
          throw new Error('\u001b[8m hidden')
        },
      }`,
    )
    const { code, stdout } = await isobot.run(['run', file, 'afterIncomingMessage', '-'], { input: event })
    expect(code).toBe(1)
    expect(stdout).toContain('\u241B[8m hidden')
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/)
  })

  test('takes a request back that the code gives up', async () => {
    const gone = Promise.withResolvers<void>()
    const server = createServer((_request, response) => void response.once('close', gone.resolve))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      const code = `export const hooks = {
        async afterIncomingMessage() {
          await fetch('${url}', { signal: AbortSignal.timeout(200) }).catch(() => {})
        },
      }`
      await using trial = await openDryRun({ code, sourceMap: '' })
      expect(await trial.run('afterIncomingMessage', {}, { allowsFetch: true })).toMatchObject({ status: 'done' })
      await gone.promise
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  test('ends with 1 when the hook throws, and says where', async () => {
    const folder = await createProject(
      'throwing',
      `import { fail } from './fail'\nexport const hooks = { afterIncomingMessage: () => fail() }`,
    )
    await writeSources(folder, {
      'src/fail.ts': `\nexport function fail(): never {\n  throw new TypeError('nothing to say')\n}`,
    })
    const thrown = await isobot.run(['run', folder, 'afterIncomingMessage', '-'], { input: event })
    expect(thrown.code).toBe(1)
    expect(thrown.stdout).toMatch(/Failed: TypeError: nothing to say\n +at fail \(src\/fail\.ts:3:9\)/)
  })
})

test('a note that a deployment is given stands at its version, with who deployed it', async () => {
  const folder = await createProject('noted', answering('event.preview'))
  const { code } = await isobot.run(['deploy', folder, '--no-types', '--note', 'Repeats what it hears'])
  expect(code).toBe(0)
  const { stdout } = await isobot.run(['bots', 'versions', 'noted'])
  expect(stdout).toMatch(/Administrator +Repeats what it hears/)
})
