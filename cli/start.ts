import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { migrate } from '../migrations/migrations.ts'
import { ensureAdministrator } from '#shared/process/bootstrap.ts'
import { readConfig } from '#shared/config/config.ts'
import { keepInspectorShut } from '#shared/process/process.ts'
import { openDatabase } from '#shared/store/database.ts'
import { buildConsole } from './start/build-console.ts'
import { startChild, type Child } from './start/children.ts'
import { openCredentials, type Credentials, type SavedCredentials } from './start/credentials.ts'
import { deployExample } from './start/example-bot.ts'
import { untilInterrupted } from './start/interrupt.ts'
import { assertPortIsFree } from './start/port.ts'
import { startDatabase } from './postgres/start-database.ts'
import { announceStart } from './profiles.ts'
import { recordStart, untilFormerStartGone } from './start/record.ts'
import { welcome } from './start/welcome.ts'

type ProcessName = 'api' | 'worker'

/** How `npm run dev` differs from `npm start`. */
export interface Development {
  /** Parameters of Node for a process. */
  nodeOptions(name: ProcessName): string[]
  /** Starts a process, and again whenever its sources change. */
  startReloading(name: ProcessName, launch: () => Promise<Child>): Promise<Child>
  /** Starts a process that serves the console, in place of the api, which would build it. */
  serveConsole(apiUrl: string): Promise<Child>
}

export interface StartOptions {
  /** Prints what is for people. */
  say?: (line: string) => void
  /** Is told when everything runs. */
  announce?: (saved: SavedCredentials, directory: string) => void
  development?: Development
}

/**
 * `npm start` and `isobot start`: everything in one go, with nothing installed. A database in the data folder unless
 * `DATABASE_URL` names one, the api and a worker as processes of their own, and an example bot at the first start. Runs
 * until a signal comes or what started it is gone, and then ends all of it in the order in which they need each other.
 */
export async function start({ say = console.log, announce = sayWelcome, development }: StartOptions = {}) {
  keepInspectorShut()
  outliveReaders()
  const children: Child[] = []
  using interruption = untilInterrupted({
    isInputUnread: true,
    again() {
      for (const child of children) child.kill()
    },
  })
  const { signal } = interruption
  await using parts = new AsyncDisposableStack()
  try {
    await run({ parts, children, say, announce, development, signal })
  } catch (error) {
    // What was under way when it was told to stop is broken off.
    if (!signal.aborted) throw error
  }
  say('Stopping')
}

interface Run {
  parts: AsyncDisposableStack
  /** Gets the processes that are started. */
  children: Child[]
  say: Exclude<StartOptions['say'], undefined>
  announce: Exclude<StartOptions['announce'], undefined>
  development: Development | undefined
  signal: AbortSignal
}

/** Starts everything, and returns when the signal aborts. */
async function run({ parts, children, say, announce, development, signal }: Run): Promise<void> {
  const port = readPort(process.env.PORT)
  const host = process.env.HOST ?? '127.0.0.1'
  const baseUrl = process.env.ISOBOT_BASE_URL ?? `http://localhost:${port}`
  const directory = resolve(process.env.ISOBOT_DATA_DIR ?? '.isobot')
  await mkdir(directory, { recursive: true })
  const isFree = await untilFormerStartGone(directory, signal)
  await assertPortIsFree(port, host)
  const record = isFree ? await recordStart(directory) : undefined
  parts.defer(() => record?.remove())

  const building = new AbortController()
  parts.defer(() => building.abort())
  const consoleBuilt = development ? undefined : buildConsole(say, AbortSignal.any([signal, building.signal]))
  const databaseUrl = await startDatabase(directory, parts, signal)
  signal.throwIfAborted()
  await migrate(databaseUrl)
  const credentials = await openCredentials(directory)
  const workspaceId = await administrator(databaseUrl, credentials)
  await consoleBuilt
  signal.throwIfAborted()

  const environment = {
    LOG_LEVEL: 'warn',
    ...process.env,
    DATABASE_URL: databaseUrl,
    ISOBOT_SECRET: process.env.ISOBOT_SECRET ?? credentials.secret,
    PORT: String(port),
    HOST: host,
    ISOBOT_BASE_URL: baseUrl,
  }
  const nearUrl = `http://${['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host}:${port}`
  const add = (child: Child) => {
    children.push(child)
    parts.defer(async () => {
      await child.stop()
    })
  }
  // The last one stops first: for what requests under way wait for, the worker is still there.
  for (const name of ['worker', 'api'] as const) {
    const launch = async () => {
      const child = await startOwn(name, environment, development?.nodeOptions(name))
      await record?.add([child.pid])
      return child
    }
    add(development ? await development.startReloading(name, launch) : await launch())
  }
  if (development) add(await development.serveConsole(nearUrl))
  parts.defer(() => record?.stopping())

  const ready = (async () => {
    await untilReady(`${nearUrl}/readyz`, signal)
    const example = await deployExample(nearUrl, { ...credentials, workspaceId, signal })
    const saved = await credentials.save({ baseUrl, chatUrl: `${baseUrl}/chat`, workspaceId, ...example })
    await announceStart(directory)
    announce(saved, directory)
  })()
  const ended = Promise.race(children.map(untilEnded))
  const stopped = untilAborted(signal)
  // Whichever comes first: it runs, something of it failed, or nobody wants it any more.
  await Promise.race([ready, ended, stopped])
  await Promise.race([ended, stopped])
}

function sayWelcome(saved: SavedCredentials, directory: string): void {
  console.log(welcome(saved, directory))
}

function readPort(text = '3000'): number {
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new Error(`PORT is "${text}": set it to a number from 1 to 65535, for instance PORT=3001 npm start`)
}

async function administrator(databaseUrl: string, { token }: Credentials): Promise<string> {
  const db = openDatabase({ url: databaseUrl, poolSize: 1, allowSelfSigned: false })
  try {
    return await ensureAdministrator(db, token)
  } finally {
    await db.destroy()
  }
}

async function startOwn(
  name: ProcessName,
  environment: NodeJS.ProcessEnv,
  nodeOptions: readonly string[] = [],
): Promise<Child> {
  const directory = resolve(import.meta.dirname, '..')
  const graceMilliseconds = readConfig(environment).shutdownMilliseconds + 5000
  const command = [process.execPath, ...nodeOptions, join(name, 'main.js')] as const
  return startChild(name, command, { directory, environment, graceMilliseconds })
}

async function untilEnded({ name, exited }: Child): Promise<never> {
  const { code, signal } = await exited
  throw new Error(`The ${name} process ended (${signal ?? `exit code ${code}`}); its own words stand above`)
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

/** A closed terminal, or a reader that is gone, must not end this process before it has ended the others. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    signal.throwIfAborted()
    const response = await fetch(url, { signal }).catch(() => undefined)
    if (response?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`The api does not answer at ${url}`)
}

if (import.meta.main) {
  try {
    await start()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
