import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { launchChromium } from '../../browser/chromium.ts'
import { processesOf } from '../../support/processes-of.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const patience = { timeout: 60_000, interval: 50 }

// Sources are saved, so it is a copy of them that runs.
let directory: string
let url: string
let output = ''
let child: ReturnType<typeof spawn>
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'isobot-dev-'))
  const sources = ['api', 'bot', 'cli', 'console', 'examples', 'migrations', 'sandbox', 'shared', 'worker']
  for (const name of [...sources, 'package.json', 'tsconfig.json']) {
    await cp(join(root, name), join(directory, name), {
      recursive: true,
      filter: (path) => path !== join(root, 'console', 'dist'),
    })
  }
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...rest } = process.env
  child = spawn(process.execPath, ['cli/dev.ts'], {
    cwd: directory,
    env: {
      ...rest,
      PORT: String(port),
      LOG_LEVEL: 'info',
      ISOBOT_DATA_DIR: join(directory, 'data'),
      ISOBOT_CONFIG_DIR: directory,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += String(chunk)))
  const said = ['The console from its sources', 'Ctrl-C stops everything']
  await vi.waitUntil(() => said.every((text) => output.includes(text)), patience)
}, 120_000)
afterAll(async () => {
  if (child.exitCode === null) child.kill('SIGKILL')
  await vi.waitUntil(async () => (await processesOf(directory)).length === 0, patience)
  await rm(directory, { recursive: true, force: true })
}, 120_000)

test('a request is answered by the code of the api that was saved last', async () => {
  expect(await statusOf('/readyz')).toBe(200)
  await save('api/server.ts', "app.disable('etag')", 'app.use((_, response) => response.sendStatus(418))')
  await expect.poll(() => statusOf('/readyz'), patience).toBe(418)
})

test('an api that does not compile is said to have ended, and the save that repairs it starts it again', async () => {
  await save('api/server.ts', 'response.sendStatus(418))', 'response.sendStatus(418)')
  await expect.poll(() => output, patience).toContain('The api ended (exit code 1): save a source file to restart it')
  await save('api/server.ts', 'app.use((_, response) => response.sendStatus(418)', "app.disable('etag')")
  await expect.poll(() => statusOf('/readyz'), patience).toBe(200)
})

test('a saved file of the worker restarts the worker, and one of what both share restarts both', async () => {
  await save('worker/run.ts', "'Working'", "'Working anew'")
  await expect.poll(() => output, patience).toContain('Working anew')
  await save('shared/telemetry/logger.ts', 'pino(options,', 'pino.pino(options,')
  await expect.poll(() => output.split('Working anew').length, patience).toBe(3)
  const restarts = ['the api restarts', 'the worker restarts'].map(
    (what) => `shared/telemetry/logger.ts changed: ${what}`,
  )
  for (const line of restarts) expect(output).toContain(line)
  await expect.poll(() => statusOf('/readyz'), patience).toBe(200)
})

test('a page of the console loads itself again when its source is saved', async () => {
  const [, consoleUrl] = /The console from its sources: (\S+)/.exec(output)!
  await using browser = await launchChromium()
  const page = await browser.newPage()
  await page.goto(consoleUrl!)
  await page.getByRole('heading', { name: 'Sign in to Isobot' }).waitFor()
  // The page asks the api by the same address.
  expect(await page.evaluate(async () => (await fetch('/readyz')).status)).toBe(200)
  await save('console/source/pages/sign-in-page.tsx', 'Sign in to Isobot', 'Sign in to what was saved')
  await page.getByRole('heading', { name: 'Sign in to what was saved' }).waitFor()
}, 600_000)

test('SIGTERM ends all of it, restarted processes included', async () => {
  expect((await processesOf(directory)).length).toBeGreaterThan(3)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(await processesOf(directory)).toEqual([])
})

/** Saves a source file in which a text is replaced. */
async function save(path: string, text: string, replacement: string): Promise<void> {
  const file = join(directory, path)
  const source = await readFile(file, 'utf8')
  expect(source).toContain(text)
  await writeFile(file, source.replace(text, replacement))
}

/** The status of an answer, or 0 while nobody answers. */
async function statusOf(path: string): Promise<number> {
  return fetch(url + path).then(
    ({ status }) => status,
    () => 0,
  )
}
