import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { findProcess, type RunningProcess } from '#shared/process/find-process.ts'
import { building, buildConsole } from '../../console/built.ts'
import { pretendOldNode } from '../command-line.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const patience = { timeout: 60_000, interval: 50 }

/** A running product with all its processes. */
interface Start {
  pid: number
  processes: RunningProcess[]
}

// One folder and one port for all of them: each start finds what the one before has left. Starts cost seconds, so that
// the start that follows an end is the one whose end comes next.
let directory: string
let port: number
let logged = 0
const starts: Start[] = []
beforeAll(buildConsole, building)
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'isobot-ends-'))
  port = await freePort()
})
beforeEach(async () => {
  logged = (await postgresLog()).length
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await killAll()
})
afterAll(async () => {
  await killAll()
  await rm(directory, { recursive: true, force: true })
})

const npm = /^npm (start|exec)/
const shell = /^sh -c/
const program = /^\S*node (cli\/npm-start\.js|\S+isobot(\.js)? start)$/
const npx = ['npx', '--no', '--', 'isobot', 'start']
const npmStart = [process.execPath, 'cli/npm-start.js']
const launcherOnOldNode = [process.execPath, '--import', pretendOldNode, 'cli/isobot.js', 'start']
const supervisor = [
  process.execPath,
  '--eval',
  `require('node:child_process').spawn('npm', ['start'], { stdio: ['pipe', 'inherit', 'inherit'] })`,
]

test.each([
  ['npm', 'SIGTERM', npm],
  ['npm', 'SIGKILL', npm],
  ['npm-start.js', 'SIGTERM', program],
  ['npm-start.js', 'SIGKILL', program],
] as const)(
  '%s ended by %s: all of it ends in order, and the next start works at once',
  async (_, signal, link) => {
    const started = starts.at(-1) ?? (await start())
    process.kill(pidOf(started, link), signal)
    await start()
    await expect.poll(() => stillThere(started), patience).toEqual([])
    expect((await postgresLog()).slice(logged)).not.toMatch(/not properly shut down|PANIC/)
  },
  180_000,
)

test.each([
  ['a terminal that closes', 'SIGHUP'],
  ['Ctrl-C at a terminal', 'SIGINT'],
] as const)(
  '%s ends all of it in order, and the next start works at once',
  async (_, signal) => {
    const started = starts.at(-1) ?? (await start())
    process.kill(-started.pid, signal)
    await start(npx)
    await expect.poll(() => stillThere(started), patience).toEqual([])
    expect((await postgresLog()).slice(logged)).not.toMatch(/not properly shut down|PANIC/)
  },
  180_000,
)

test('the shell of npx is killed: all of it ends in order, and the next start works at once', async () => {
  const started = starts.at(-1) ?? (await start(npx))
  // Where the shell has become the program, the program is killed.
  const hasShell = started.processes.some(({ commandLine }) => shell.test(commandLine))
  process.kill(pidOf(started, hasShell ? shell : program), 'SIGKILL')
  await start(launcherOnOldNode)
  await expect.poll(() => stillThere(started), patience).toEqual([])
  expect((await postgresLog()).slice(logged)).not.toMatch(/not properly shut down|PANIC/)
}, 180_000)

test('the launcher of isobot killed on an old Node: all of it ends, and the next start works at once', async () => {
  const started = starts.at(-1) ?? (await start(launcherOnOldNode))
  expect(pidOf(started, program)).not.toBe(started.pid)
  process.kill(started.pid, 'SIGKILL')
  await start(supervisor)
  await expect.poll(() => stillThere(started), patience).toEqual([])
}, 180_000)

test('a supervisor that is killed takes with it what it started and holds the input of', async () => {
  const started = starts.at(-1) ?? (await start(supervisor))
  process.kill(started.pid, 'SIGKILL')
  await expect.poll(() => stillThere(started), patience).toEqual([])
  starts.splice(0)
}, 180_000)

test('a start that a script leaves behind on purpose goes on until it receives a signal', async () => {
  // A process that a script starts with & has no standard input, and without a terminal stays in the script's process group.
  const started = await start(['sh', '-c', 'npm start & read line'])
  started.child.stdin.end()
  await once(started.child, 'exit')
  // By the second answer, whoever looks for a lost parent has looked twice.
  for (const _ of [1, 2]) expect(await say('Hello')).toContain('You said: Hello')
  process.kill(pidOf(started, program), 'SIGTERM')
  await expect.poll(() => stillThere(started), patience).toEqual([])
  starts.splice(0)
}, 180_000)

test('a database that ends by itself ends all of it, and its log is named', async () => {
  const started = await start(npmStart)
  const [server] = (await readFile(join(directory, 'postgres/cluster/data/postmaster.pid'), 'utf8')).split('\n')
  process.kill(Number(server), 'SIGQUIT')
  expect(await once(started.child, 'exit')).toEqual([1, null])
  expect(started.output()).toContain(`PostgreSQL ended by itself: the end of ${join(directory, 'postgres.log')} has`)
  await expect.poll(() => stillThere(started), patience).toEqual([])
  starts.splice(0)
}, 180_000)

/** How far a start has come, seen from outside. */
const stages: Record<string, () => Promise<boolean>> = {
  'makes its database': () => exists('postgres', /^cluster-unfinished/),
  'starts its database': () => exists('postgres/cluster/data', /^postmaster.pid$/),
  'deploys its example': () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
}

test.each(Object.keys(stages))(
  'a first start that is told to stop while it %s ends at once, in order',
  async (stage) => {
    await rm(directory, { recursive: true, force: true })
    const { child, output } = launch(npmStart)
    await expect.poll(stages[stage]!, { timeout: 60_000, interval: 10 }).toBe(true)
    const processes = await descendantsOf(child.pid!)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(output()).toBe('Stopping\n')
    await expect.poll(() => stillThere({ processes }), patience).toEqual([])
    await start(npmStart)
    process.kill(pidOf(starts.at(-1)!, program), 'SIGTERM')
    const next = starts.pop()!
    await expect.poll(() => stillThere(next), patience).toEqual([])
  },
  180_000,
)

async function exists(folder: string, pattern: RegExp): Promise<boolean> {
  const names = await readdir(join(directory, folder)).catch(() => [])
  return names.some((name) => pattern.test(name))
}

async function say(text: string): Promise<string> {
  const { ISOBOT_URL: _url, ISOBOT_TOKEN: _token, ...rest } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, ['cli/isobot.js', 'chat', 'echo', text], {
    cwd: root,
    env: { ...rest, ISOBOT_DATA_DIR: directory, ISOBOT_CONFIG_DIR: directory },
  })
  return stdout
}

async function killAll(): Promise<void> {
  for (const { processes } of starts.splice(0)) {
    for (const one of processes)
      if ((await stillThere({ processes: [one] })).length > 0) process.kill(one.pid, 'SIGKILL')
  }
}

/** Starts the product in a process group of its own, as a shell at a terminal does. */
function launch([command, ...parameters]: string[]) {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...rest } = process.env
  const child = spawn(command!, parameters, {
    cwd: root,
    env: { ...rest, PORT: String(port), ISOBOT_DATA_DIR: directory, ISOBOT_CONFIG_DIR: directory },
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  return { child, output: () => output }
}

/** Waits until it runs. */
async function start(command = ['npm', 'start']) {
  const { child, output } = launch(command)
  await expect.poll(output, patience).toContain('Ctrl-C stops everything')
  const started = { child, output, pid: child.pid!, processes: await descendantsOf(child.pid!) }
  starts.push(started)
  return started
}

function pidOf({ processes }: Start, pattern: RegExp): number {
  const found = processes.find(({ commandLine }) => pattern.test(commandLine))
  if (found) return found.pid
  throw new Error(`${String(pattern)} is none of\n${processes.map(({ commandLine }) => commandLine).join('\n')}`)
}

/** Those of a start's processes that run still. */
async function stillThere({ processes }: Pick<Start, 'processes'>): Promise<string[]> {
  const there = await Promise.all(
    processes.map(async ({ pid, commandLine }) =>
      (await findProcess(pid))?.commandLine === commandLine ? [`${pid} ${commandLine}`] : [],
    ),
  )
  return there.flat()
}

async function descendantsOf(ancestor: number): Promise<RunningProcess[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid='])
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const found = [ancestor]
  for (const pid of found) found.push(...pairs.filter(([, parent]) => parent === pid).map(([child]) => child!))
  return (await Promise.all(found.map(findProcess))).filter((one) => one !== undefined)
}

async function postgresLog(): Promise<string> {
  return readFile(join(directory, 'postgres.log'), 'utf8').catch(() => '')
}
