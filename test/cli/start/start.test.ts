import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { freePort } from '../../../cli/postgres/free-port.ts'
import type { SavedCredentials } from '../../../cli/start/credentials.ts'
import { building, buildConsole } from '../../console/built.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { processesOf } from '../../support/processes-of.ts'

const root = join(import.meta.dirname, '..', '..', '..')
let directory: string
beforeAll(buildConsole, building)
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'isobot-start-'))
})
afterEach(async () => {
  await vi.waitUntil(async () => (await processesOf(directory)).length === 0, { timeout: 40_000, interval: 100 })
  await rm(directory, { recursive: true, force: true })
})

test('npm start runs everything on an empty machine, and isobot start finds its data', async () => {
  const first = await start()
  const credentials = await readCredentials()
  expect((await stat(join(directory, 'credentials.json'))).mode & 0o777).toBe(0o600)
  expect(Object.keys(credentials).toSorted()).toEqual([
    'baseUrl',
    'botId',
    'chatUrl',
    'token',
    'webhookId',
    'workspaceId',
  ])
  expect(first.output()).toContain(credentials.token)
  expect(first.output()).toContain(credentials.workspaceId)
  expect((await fetch(`${credentials.baseUrl}/console`)).status).toBe(200)
  expect(await paste(first.output())).toContain('You said: Hi there')
  expect(await say('Hello')).toBe('Hello stranger! You said: Hello\n')
  const chatUser = await createChatUser(`${credentials.chatUrl}/${credentials.webhookId}`, { id: 'returning' })
  const conversationId = await chatUser.createConversation()
  await first.interrupt()

  const second = await start(['cli/isobot.js', 'start'])
  const again = await readCredentials()
  expect({ ...again, baseUrl: '', chatUrl: '' }).toEqual({ ...credentials, baseUrl: '', chatUrl: '' })
  const headers = { 'x-user-key': chatUser.key }
  const found = await fetch(`${again.chatUrl}/${again.webhookId}/conversations/${conversationId}`, { headers })
  expect(found.status).toBe(200)
  await second.interrupt()
}, 120_000)

test('the secret of npm start is replaced by the variables of the page, and its values are encrypted again', async () => {
  const first = await start()
  const { baseUrl, botId, token, workspaceId } = await readCredentials()
  const stored = await fetch(`${baseUrl}/v1/admin/bots/${botId}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId },
    body: JSON.stringify({ secrets: { OWN: 'sun' } }),
  })
  expect(stored.status).toBe(200)
  await first.interrupt()

  const former = await readFile(join(directory, 'secret'), 'utf8')
  const variables = { ISOBOT_SECRET: 'the replacement of the secret, long enough', ISOBOT_SECRET_ACCEPTED: former }
  const second = await start(['cli/npm-start.js'], root, variables)
  const reencrypt = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['cli/isobot.js', 'reencrypt', '--json'], {
      cwd: root,
      env: { ...environment(second.port), ...variables },
    })
    return JSON.parse(stdout) as { reencrypted: number; current: number; unreadable: string[] }
  }
  const done = await reencrypt()
  expect(done).toMatchObject({ current: 0, unreadable: [] })
  expect(done.reencrypted).toBeGreaterThan(0)
  expect(await reencrypt()).toMatchObject({ reencrypted: 0, current: done.reencrypted, unreadable: [] })
  await second.interrupt()
}, 120_000)

test('npm start builds the console of a fresh checkout before it serves, and runs without one that cannot be built', async () => {
  const checkout = join(directory, 'checkout')
  const folders = [
    'api',
    'bot',
    'cli',
    'console/widget',
    'examples',
    'migrations',
    'sandbox',
    'shared',
    'worker',
    'package.json',
  ]
  for (const name of folders) {
    await cp(join(root, name), join(checkout, name), { recursive: true, verbatimSymlinks: true })
  }
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const script = join(checkout, 'console', 'source', 'main.ts')
  await mkdir(join(script, '..'), { recursive: true })
  await writeFile(join(checkout, 'console', 'index.html'), '<script type="module" src="/source/main.ts"></script>')

  await writeFile(script, 'document.title = ')
  const broken = await start(['cli/npm-start.js'], checkout)
  const notFound = await fetch(`http://localhost:${broken.port}/console`)
  expect(notFound.status).toBe(404)
  expect(((await notFound.json()) as Error).message).toContain('run "npm run build"')
  expect(broken.output()).toContain('The console is not built')
  await broken.interrupt()

  await writeFile(script, 'document.title = "mended"')
  const mended = await start(['cli/npm-start.js'], checkout)
  const found = await fetch(`http://localhost:${mended.port}/console`)
  expect({ status: found.status, page: await found.text() }).toMatchObject({
    status: 200,
    page: expect.stringContaining('src="/console/assets/'),
  })
  await mended.interrupt()
}, 180_000)

test('a parent that is killed leaves no process behind', async () => {
  const started = await start()
  expect((await processesOf(directory)).length).toBeGreaterThan(3)
  started.child.kill('SIGKILL')
  await expect.poll(() => processesOf(directory), { timeout: 40_000 }).toEqual([])
}, 120_000)

test('a taken port, here one that `npm start -- --port` gives, is named, with what to do', async () => {
  const started = await start()
  const { port } = started
  const second = spawn(process.execPath, ['cli/npm-start.js', '--port', String(port)], {
    cwd: root,
    env: environment(await freePort()),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  expect(await text(second.stderr)).toContain(`Port ${port} of 127.0.0.1 is in use`)
  expect(second.exitCode ?? (await once(second, 'exit'))[0]).toBe(1)
  await started.interrupt()
}, 120_000)

test('a database or a data folder that cannot be used is named, with what to do', async () => {
  expect(await refusalOf({ DATABASE_URL: 'postgres://isobot:secret@127.0.0.1:1/isobot' })).toContain(
    'PostgreSQL at 127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1: start the server, or correct host and port in DATABASE_URL',
  )
  expect(await refusalOf({ DATABASE_URL: 'mysql://isobot' })).toContain('DATABASE_URL must match pattern')
  const file = join(directory, 'file')
  await writeFile(file, '')
  expect(await refusalOf({ ISOBOT_DATA_DIR: file })).toMatch(
    /The data folder \S+ cannot be used \(EEXIST: .*\): make it writable, or choose another one/,
  )
}, 120_000)

/** The errors that `npm start` prints before it ends. */
async function refusalOf(variables: NodeJS.ProcessEnv): Promise<string> {
  const env = { ...environment(await freePort()), ...variables }
  const child = spawn(process.execPath, ['cli/npm-start.js'], { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const said = await text(child.stderr)
  expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(1)
  return said
}

function environment(port: number): NodeJS.ProcessEnv {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...rest } = process.env
  return { ...rest, PORT: String(port), ISOBOT_DATA_DIR: directory, ISOBOT_CONFIG_DIR: directory }
}

/** Starts the product, as `npm start` does unless told otherwise, and waits until it says that it runs. */
async function start(command = ['cli/npm-start.js'], folder = root, variables: NodeJS.ProcessEnv = {}) {
  const port = await freePort()
  const child = spawn(process.execPath, command, {
    cwd: folder,
    env: { ...environment(port), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const exited = once(child, 'exit')
  await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C stops everything')
  return {
    child,
    port,
    output: () => output,
    async interrupt() {
      child.kill('SIGINT')
      expect(await exited).toEqual([0, null])
    },
  }
}

async function readCredentials(): Promise<SavedCredentials> {
  return JSON.parse(await readFile(join(directory, 'credentials.json'), 'utf8')) as SavedCredentials
}

/** Runs the conversation that was printed, as somebody would who pastes it into a shell. */
async function paste(output: string): Promise<string> {
  const lines = output.split('\n').map((line) => line.trim())
  const script = lines.slice(
    lines.findIndex((line) => line.startsWith('chat=')),
    lines.findIndex((line) => line.startsWith('sleep')) + 1,
  )
  const { stdout } = await promisify(execFile)('sh', ['-c', script.join('\n')])
  return stdout
}

/** Says something from the command line, which nobody has told where the platform is, nor where its data are. */
async function say(text: string): Promise<string> {
  const { ISOBOT_URL: _url, ISOBOT_TOKEN: _token, ISOBOT_DATA_DIR: _data, ...rest } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, ['cli/isobot.js', 'chat', 'echo', text], {
    cwd: root,
    env: { ...rest, ISOBOT_CONFIG_DIR: directory },
  })
  return stdout
}
