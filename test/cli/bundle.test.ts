import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { megabyte } from '#shared/units.ts'
import { connect } from '../../cli/connection.ts'
import { openBundler, type Bundle, type Bundled } from '../../cli/project/bundle.ts'
import type { Project } from '../../cli/project/project.ts'
import { deployProject } from '../../cli/project/deploy.ts'
import { createChatUser } from '../support/chat-client.ts'
import { endedEvents } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let folder: string
beforeAll(async () => {
  folder = parts.adopt(await mkdtemp(join(tmpdir(), 'bundle-')), (path) => rm(path, { recursive: true }))
  // Code of 4 MB takes a slow machine, which has other tests to run, more processor time than the usual limit of 10 s.
  platform = parts.use(await openPlatform({ environment: { COMPILE_SECONDS: '30' } }))
})
afterAll(() => parts.disposeAsync())

/** Writes a project's files, its packages among them. Gives the project. */
async function createProject(name: string, files: Record<string, string>): Promise<Project> {
  const settings = { name }
  for (const [file, text] of Object.entries({ ...files, 'isobot.json': JSON.stringify(settings) })) {
    const path = join(folder, name, file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  return { folder: join(folder, name), entry: 'index.ts', settings }
}

async function bundle(name: string, files: Record<string, string>): Promise<Bundled> {
  await using bundler = await openBundler(await createProject(name, files))
  return await bundler.bundle()
}

function bundleOf(bundled: Bundled): Bundle {
  if ('problems' in bundled) throw new Error(bundled.problems.map(({ message }) => message).join('\n'))
  return bundled.bundle
}

/** The reply of a bot to `hello`. */
async function replyTo(bot: Awaited<ReturnType<typeof deploy>>['bot']): Promise<string | undefined> {
  const chatUser = await createChatUser(bot.integrations['chat']!.webhookUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  await endedEvents(platform, bot.id, 1)
  const [, reply] = await chatUser.messages(conversationId)
  return reply?.text
}

async function deploy(project: Project) {
  await using bundler = await openBundler(project)
  const connection = await connect({ name: 'tests', url: platform.url, token: platform.token })
  const deployed = await deployProject(project, connection, bundler, { checksTypes: false })
  if (!deployed || 'problems' in deployed) throw new Error(JSON.stringify(deployed))
  return deployed
}

const answering = `
export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const text = String(await answer(event.preview))
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
  },
}
`

test('a package is taken in its form for browsers: by conditions, by files in the place of others, and by none', async () => {
  const { code } = bundleOf(
    await bundle('browsers', {
      'index.ts': `import { where } from 'conditional'; import { how } from 'replaced'; console.log(where, how)`,
      'node_modules/conditional/package.json': JSON.stringify({
        name: 'conditional',
        exports: { browser: './web.js', default: './node.js' },
      }),
      'node_modules/conditional/web.js': `export const where = 'conditional on the web'`,
      'node_modules/conditional/node.js': `import 'node:fs'; export const where = 'in Node'`,
      'node_modules/replaced/package.json': JSON.stringify({
        name: 'replaced',
        main: 'index.js',
        browser: { './sockets.js': './fetch.js', fs: false },
      }),
      'node_modules/replaced/index.js': `require('fs'); exports.how = require('./sockets.js')`,
      'node_modules/replaced/sockets.js': `module.exports = require('net')`,
      'node_modules/replaced/fetch.js': `module.exports = 'replaced by fetch'`,
    }),
  )
  expect(code).toContain('conditional on the web')
  expect(code).toContain('replaced by fetch')
})

test('a package that asks which environment it is in is in production, and needs no process for that', async () => {
  const { code } = bundleOf(
    await bundle('production', {
      'index.ts': `if (process.env.NODE_ENV !== 'production') console.log('checks of developers')`,
    }),
  )
  expect(code).not.toContain('process')
})

test('a package that needs Node gets its modules from the isolate, with the globals and the environment of Node', async () => {
  const project = await createProject('node', {
    'index.ts': `import { createHash } from 'node:crypto'
import { describe } from 'needs-node'
const answer = async (words) => [createHash('sha256').update(words).digest('hex').slice(0, 8), await describe(words)].join()
${answering}`,
    'node_modules/needs-node/package.json': JSON.stringify({ name: 'needs-node', main: 'index.js' }),
    'node_modules/needs-node/index.js': `
const { EventEmitter, once } = require('events')
const fs = require('fs')
let sqlite
try { sqlite = require('node:sqlite') } catch ({ code }) { sqlite = code }
const driver = () => require('driver-of-another')
exports.describe = async (words) => {
  const renderer = await import('@optional/renderer').catch(({ code }) => code)
  const reason = (() => { try { driver() } catch ({ code }) { return code } })()
  const native = (() => { try { require('./build/native.node') } catch ({ code }) { return code } })()
  if (renderer !== 'MODULE_NOT_FOUND' || reason !== renderer || native !== renderer) return renderer
  const emitter = new EventEmitter()
  setImmediate(() => emitter.emit('heard', Buffer.from(words)))
  const [bytes] = await once(emitter, 'heard')
  return [bytes.toString('base64'), fs.existsSync('/etc/passwd'), sqlite, process.env.SECRET_TONE].join()
}`,
  })
  const { bot } = await deploy(project)
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { secrets: { TONE: 'kind' } })
  expect(await replyTo(bot)).toBe('2cf24dba,aGVsbG8=,false,MODULE_NOT_FOUND,kind')
})

test('a package that needs a page in its form for browsers is named with the setting that takes the form for Node', async () => {
  const project = await createProject('forms', {
    'index.ts': `import { form } from 'forms'\nconst answer = () => form\n${answering}`,
    'node_modules/forms/package.json': JSON.stringify({ name: 'forms', main: './node.js', browser: './page.js' }),
    'node_modules/forms/page.js': `module.exports = { form: document.title }`,
    'node_modules/forms/node.js': `module.exports = { form: typeof process + typeof setImmediate }`,
  })
  const connection = await connect({ name: 'tests', url: platform.url, token: platform.token })
  await using bundler = await openBundler(project)
  expect(await deployProject(project, connection, bundler, { checksTypes: false })).toMatchObject({
    problems: [
      {
        file: join('node_modules', 'forms', 'page.js'),
        message: expect.stringMatching(/^ReferenceError: document is not defined: .*"packages": "node" in isobot.json/),
      },
    ],
  })
  const { bot } = await deploy({ ...project, settings: { ...project.settings, packages: 'node' } })
  expect(await replyTo(bot)).toBe('objectfunction')
})

test('modules of Node without working functions are refused in files of the project, and missing ones in packages', async () => {
  const bundled = await bundle('refused', {
    'index.ts': `import 'sockets'; import 'node:fs'`,
    'node_modules/sockets/package.json': JSON.stringify({ name: 'sockets', type: 'module', main: 'index.js' }),
    'node_modules/sockets/index.js': `import 'node:fs'; import 'node:net'; import 'node:sqlite'; import 'node:test'`,
  })
  expect(bundled).toMatchObject({
    problems: [
      { file: 'index.ts', line: 1, message: expect.stringMatching(/^It imports 'node:fs'.*isolates have no files/) },
      {
        file: join('node_modules', 'sockets', 'index.js'),
        message: expect.stringMatching(/^The package 'sockets' imports 'node:sqlite'.*docs\/libraries\.md/),
      },
    ],
  })
})

test('a package with the name of a module of Node stands for it in the packages that depend on it, and in no others', async () => {
  const bundled = await bundle('named', {
    'index.ts': `import { old } from 'old'; import { current } from 'current'; export const hooks = { async afterTurnEnd() { return [old, current] } }`,
    'node_modules/buffer/package.json': JSON.stringify({ name: 'buffer', version: '5.0.0', main: 'index.js' }),
    'node_modules/buffer/index.js': `exports.name = 'the package of that name'`,
    'node_modules/old/package.json': JSON.stringify({ name: 'old', main: 'index.js', dependencies: { buffer: '5' } }),
    'node_modules/old/index.js': `exports.old = require('buffer').name`,
    'node_modules/current/package.json': JSON.stringify({ name: 'current', main: 'index.js' }),
    'node_modules/current/index.js': `exports.current = require('buffer').constants.MAX_LENGTH`,
  })
  if (!('bundle' in bundled)) throw new Error(JSON.stringify(bundled))
  const { code } = bundled.bundle
  expect(code).toContain('the package of that name')
  expect(code).toMatch(/(?:require|import\w*)[^\n]*\("buffer"\)|from "buffer"/)
})

function largeFunction(index: number): string {
  return `export function theFunctionOfThisNumber${index}(theParameterOfTheFunction) {
          return theParameterOfTheFunction + theParameterOfTheFunction + ${index}
}
`
}

/** Functions that are much longer as they are written than when they are minified. */
function largeModule(characters: number): string {
  const count = Math.ceil(characters / largeFunction(10_000).length)
  const numbers = Array.from({ length: count }, (_none, index) => index)
  const names = numbers.map((index) => `theFunctionOfThisNumber${index}`)
  return `${numbers.map(largeFunction).join('')}export const all = [${names.join()}]`
}

function largeText(length: number): string {
  return `export const text = ${JSON.stringify('x'.repeat(length))}`
}

test('a large bundle is minified, and what fails in it is found by its name, file and line', async () => {
  const project = await createProject('large', {
    'index.ts': `import { all } from './large.ts'
class OutOfParrots extends Error {}
function refuseAll(words) {
  throw new OutOfParrots(words + ' ' + all.length + ' ' + OutOfParrots.name)
}
const answer = (words) => refuseAll(words)
${answering}`,
    'large.ts': largeModule(4 * megabyte),
  })
  const deployed = await deploy(project)
  expect(deployed.bundle.code.length).toBeLessThan(4 * megabyte)
  const chatUser = await createChatUser(deployed.bot.integrations['chat']!.webhookUrl)
  await chatUser.send(await chatUser.createConversation(), 'hello')
  const [event] = await endedEvents(platform, deployed.bot.id, 1)

  expect(event!.failure_reason).toMatch(/hello \d+ OutOfParrots$/)
  const { body } = await platform.ask('GET', `/v1/admin/bots/${deployed.bot.id}/events/${event!.id}`)
  expect(body.event.error.stack).toMatch(/refuseAll .*index\.ts:4:9/)
})

test('a bundle that is too large even so is not uploaded, and its largest parts are named', async () => {
  const bundled = await bundle('huge', {
    'index.ts': `import { text as a } from 'larger'; import { text as b } from '@some/large'; console.log(a, b)`,
    'node_modules/larger/package.json': JSON.stringify({ name: 'larger', main: 'index.js' }),
    'node_modules/larger/index.js': largeText(12 * megabyte),
    'node_modules/@some/large/package.json': JSON.stringify({ name: '@some/large', main: 'index.js' }),
    'node_modules/@some/large/index.js': largeText(9 * megabyte),
  })
  expect(bundled).toMatchObject({
    problems: [{ message: expect.stringContaining('larger 12.0 MB, @some/large 9.0 MB') }],
  })
})
