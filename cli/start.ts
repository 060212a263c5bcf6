import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { migrateOrExplain } from '../migrations/migrate-or-explain.ts'
import { ensureAdministrator } from '#shared/process/bootstrap.ts'
import { readConfig, type Config } from '#shared/config/config.ts'
import { disableInspectorSignal } from '#shared/process/process.ts'
import { openDatabase } from '#shared/store/database.ts'
import { buildConsole } from './start/build-console.ts'
import { startChild, type Child } from './start/children.ts'
import { openCredentials, type Credentials, type SavedCredentials } from './start/credentials.ts'
import { openDataFolder } from './start/data-folder.ts'
import { deployExample } from './start/example-bot.ts'
import { untilInterrupted } from './start/interrupt.ts'
import { assertPortIsFree } from './start/port.ts'
import { startDatabase, type StartedDatabase } from './postgres/start-database.ts'
import { announceStart } from './profiles.ts'
import { recordStart, untilFormerStartExited } from './start/record.ts'
import { welcome } from './start/welcome.ts'

type ProcessName = 'api' | 'worker'

/** How `npm run dev` differs from `npm start`. */
export interface Development {
  /** Node's command-line options for a process. */
  nodeOptions(name: ProcessName): string[]
  /** Starts a process, and restarts it whenever its sources change. */
  startReloading(name: ProcessName, launch: () => Promise<Child>): Promise<Child>
  /** Starts a process that serves the console from its sources instead of the api's built one. */
  serveConsole(apiUrl: string): Promise<Child>
}

export interface StartOptions {
  /** Prints a line for people. */
  say?: (line: string) => void
  /** Called when all processes run. */
  announce?: (saved: SavedCredentials, directory: string, webchatUrl: string | undefined) => void
  development?: Development
}

/**
 * `npm start` and `isobot start`: runs the whole platform without further installation. It starts a database in the
 * data folder unless `DATABASE_URL` names one, the api and a worker as separate processes, and deploys an example bot
 * at the first start. It runs until a signal arrives or its launcher exits, and then stops the parts in order of
 * dependency.
 */
export async function start({ say = console.log, announce = printWelcome, development }: StartOptions = {}) {
  disableInspectorSignal()
  ignoreOutputErrors()
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
    // The stop signal aborts a start in progress, which rejects.
    if (!signal.aborted) throw error
  }
  say('Stopping')
}

interface Run {
  parts: AsyncDisposableStack
  /** Receives the started processes. */
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
  await openDataFolder(directory)
  const isFree = await untilFormerStartExited(directory, signal)
  await assertPortIsFree(port, host)
  const record = isFree ? await recordStart(directory) : undefined
  parts.defer(() => record?.remove())

  const building = new AbortController()
  parts.defer(() => building.abort())
  const consoleBuilt = development ? undefined : buildConsole(say, AbortSignal.any([signal, building.signal]))
  const database = await startDatabase(directory, parts, signal)
  signal.throwIfAborted()
  const credentials = await openCredentials(directory)
  const environment = {
    LOG_LEVEL: 'warn',
    ...process.env,
    DATABASE_URL: database.url,
    ISOBOT_SECRET: process.env.ISOBOT_SECRET ?? credentials.secret,
    PORT: String(port),
    HOST: host,
    ISOBOT_BASE_URL: baseUrl,
  }
  const config = readConfig(environment)
  await migrateOrExplain(config)
  const workspaceId = await administrator(config, credentials)
  await consoleBuilt
  signal.throwIfAborted()

  const nearUrl = `http://${['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host}:${port}`
  const add = (child: Child) => {
    children.push(child)
    parts.defer(async () => {
      await child.stop()
    })
  }
  // The last process stops first: the api's requests in flight still need the worker.
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
    const saved = await credentials.save({ baseUrl, chatUrl: `${baseUrl}/chat`, workspaceId, ...example.bot })
    await announceStart(directory)
    announce(saved, directory, example.webchatUrl)
  })()
  const ended = Promise.race([...children.map(untilEnded), untilDatabaseEnded(database)])
  const stopped = untilAborted(signal)
  // The first of three outcomes: all processes run, a part failed, or the signal aborted.
  await Promise.race([ready, ended, stopped])
  await Promise.race([ended, stopped])
}

function printWelcome(saved: SavedCredentials, directory: string, webchatUrl: string | undefined): void {
  console.log(welcome(saved, directory, webchatUrl))
}

function readPort(text = '3000'): number {
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new Error(`PORT is "${text}": set it to a number from 1 to 65535, for instance 3001`)
}

async function administrator({ database }: Config, { token }: Credentials): Promise<string> {
  const db = openDatabase({ ...database, poolSize: 1 })
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
  throw new Error(`The ${name} process ended (${signal ?? `exit code ${code}`}); its messages are above`)
}

async function untilDatabaseEnded({ ended }: StartedDatabase): Promise<never> {
  // A database of the user may end and return: the processes wait for it.
  const log = await (ended ?? new Promise<never>(() => {}))
  throw new Error(
    `PostgreSQL ended by itself: the end of ${log} has the reason, such as a full disk. Start again when it is resolved`,
  )
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

/** A closed terminal or pipe must not end this process before it has stopped the others. */
function ignoreOutputErrors(): void {
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
