import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { connect } from '../../cli/connection.ts'
import { openOwnPlatform } from '../support/own-platform.ts'
import { mailServerPackage, openBackingServers, type Addresses } from './backing-servers.ts'
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
  const { url } = parts.use(await openServer())
  const backing = await openBackingServers(folder, parts)
  const addresses: Addresses = { url, ...backing }
  const platform = await openOwnPlatform(join(folder, 'data'), parts, {
    OUTBOUND_CONNECT: Object.values(backing)
      .map((address) => new URL(address).host)
      .join(','),
  })
  const connection = await connect({ name: 'libraries', ...platform })
  const outcomes = new Map<LibraryCase, Outcome>()
  for (const one of cases) {
    const outcome = await tryLibrary(connection, folder, one, addresses)
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
  const dependencies = Object.assign({}, mailServerPackage, ...cases.map(({ packages }) => packages)) as object
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  // Installation scripts are not run: a bundle has none of their results.
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
}

await main()
