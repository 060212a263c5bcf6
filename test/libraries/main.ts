import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { startChild } from '../../cli/start/children.ts'
import { connect, type Connection } from '../../cli/connection.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { libraryCases, type LibraryCase } from './cases.ts'
import { writePage } from './page.ts'
import { openServer } from './server.ts'
import { tryLibrary, type Outcome } from './try-library.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

/**
 * `npm run libraries`: installs libraries that authors of bots use, with exact versions, into a temporary folder, has a
 * bot call each of them on a real platform, and writes what came of it into docs/libraries.md. `--only openai,zod`
 * tries some and writes nothing.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' } } })
  const only = values.only?.split(',')
  const cases = libraryCases.filter(({ packages }) => !only || only.includes(Object.keys(packages)[0]!))
  await using parts = new AsyncDisposableStack()
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'libraries-')), (path) => rm(path, { recursive: true }))
  await install(folder, cases)
  const connection = await openPlatform(join(folder, 'data'), parts)
  const { url } = parts.use(await openServer())
  const outcomes = new Map<LibraryCase, Outcome>()
  for (const one of cases) {
    const outcome = await tryLibrary(connection, folder, one, url)
    outcomes.set(one, outcome)
    const why = outcome.kind === 'works' ? `${(outcome.bundleSize / 1024).toFixed(0)} KB` : outcome.reason
    console.log(`${Object.keys(one.packages)[0]!.padEnd(24)} ${outcome.kind.padEnd(8)} ${why}`)
    if (isUnexpected(one, outcome)) process.exitCode = 1
  }
  if (!only) await writePage(join(root, 'docs', 'libraries.md'), outcomes)
}

/** Whether the list says something else of it: that it works, or what to use instead. */
function isUnexpected({ instead }: LibraryCase, { kind }: Outcome): boolean {
  return (instead === undefined) !== (kind === 'works')
}

async function install(folder: string, cases: LibraryCase[]): Promise<void> {
  const dependencies = Object.assign({}, ...cases.map(({ packages }) => packages)) as object
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  // What bundles may not need, such as a script that compiles something, is not run.
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
}

/** A platform of its own, as `npm start` runs it, whose bots may ask this machine. */
async function openPlatform(directory: string, parts: AsyncDisposableStack): Promise<Connection> {
  const port = await freePort()
  const environment = {
    ...process.env,
    ISOBOT_DATA_DIR: directory,
    PORT: String(port),
    HOST: '127.0.0.1',
    OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
  }
  const child = await startChild('start', [process.execPath, join(root, 'cli', 'start.ts')], {
    directory: root,
    environment,
  })
  parts.defer(async () => void (await child.stop()))
  const credentials = join(directory, 'credentials.json')
  for (;;) {
    const text = await readFile(credentials, 'utf8').catch(() => '{}')
    const { token, botId } = JSON.parse(text) as { token?: string; botId?: string }
    if (token && botId) return connect({ name: 'libraries', url: `http://127.0.0.1:${port}`, token })
    await delay(200)
  }
}

await main()
