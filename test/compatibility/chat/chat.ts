import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '../../../cli/connection.ts'
import { openBp } from '../../../cli/hub/bp.ts'
import { deployProject } from '../../../cli/hub/deploy-project.ts'
import { openOwnPlatform } from '../../support/own-platform.ts'
import { prepareProjects } from '../catalogue/prepare-projects.ts'
import { buildCli } from '../cli/build-cli.ts'
import { runVitest, type SuiteResults } from '../run-vitest.ts'
import { writeMeasured } from '../write-measured.ts'

const run = promisify(execFile)
/** As the repository asks for: later versions fail tests for assertions that these do not await. */
const vitest = '^2.1.4'
const suiteMilliseconds = 300_000

/**
 * Runs the tests of the public chat client of a checkout, unmodified, with that client and the public echo bot, against a
 * platform of its own.
 *
 * @param writes whether to write the counts into the documentation too
 */
export async function measureChat(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-chat-')), (path) => rm(path, { recursive: true }))
  const build = process.env['BP_BUILD_DIR'] ?? join(homedir(), '.cache', 'isobot-bp')
  const cli = await buildCli(source, build)
  const projects = await prepareProjects(source, join(build, 'catalogue'))
  const echo = projects.find(({ kind, name }) => kind === 'bots' && name === 'echo')
  if (!echo) throw new Error('The checkout has no bot echo')
  const platform = await openOwnPlatform(join(folder, 'data'), parts)
  const home = join(folder, 'home')
  await mkdir(home)
  const { problem } = await deployProject(await openBp(cli.script, platform, home), echo)
  if (problem !== '') throw new Error(`bots/echo: ${problem}`)
  const api = await connect({ name: 'chat', ...platform })
  const { bots } = await api.ask<'listBots'>('GET', '/v1/admin/bots', { query: { pageSize: 1 } })
  const { bot } = await api.ask<'getBot'>('GET', `/v1/admin/bots/${bots[0]!.id}`)
  const chat = bot.integrations['chat']!
  const client = join(folder, 'packages', 'chat-client')
  await cp(join(build, 'packages', 'chat-client'), client, { recursive: true })
  await cp(join(source, 'tsconfig.json'), join(folder, 'tsconfig.json'))
  await symlink(cli.modules, join(client, 'node_modules'))
  const results = await runSuite(client, folder, {
    API_URL: chat.webhookUrl,
    ENCRYPTION_KEY: chat.sharedEncryptionKey ?? '',
  })
  const lines = report(results)
  console.log(lines.join('\n'))
  if (writes) await writeMeasured('catalogue.md', lines, 'measured chat client')
}

/** @param client the folder of the package, below `folder` */
async function runSuite(
  client: string,
  folder: string,
  environment: Record<'API_URL' | 'ENCRYPTION_KEY', string>,
): Promise<SuiteResults> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: { vitest } }))
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: folder })
  // That of the package reads settings from a file of its author.
  const configuration = join(folder, 'vitest.config.mjs')
  await writeFile(configuration, `export default { test: { testTimeout: 20_000, include: ['e2e/**/*.test.ts'] } }\n`)
  return runVitest(folder, { root: client, configuration, environment, milliseconds: suiteMilliseconds })
}

/** A test that runs with each protocol has one title. */
function report({ testResults }: SuiteResults): string[] {
  const runs = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((each) => ({ ...each, test: `${name} ${each.title}` })),
  )
  const failed = runs.filter(({ status }) => status !== 'passed')
  const tests = new Set(runs.map(({ test }) => test))
  const passing = tests.difference(new Set(failed.map(({ test }) => test)))
  if (failed.length > 0) process.exitCode = 1
  return [
    `${new Date().toISOString().slice(0, 10)}: ${passing.size} of ${tests.size} tests, and ` +
      `${runs.length - failed.length} of ${runs.length} runs of them with each protocol.`,
    ...failed.flatMap(({ title, failureMessages }) => [
      '',
      `- ${title}: ${(failureMessages[0] ?? '').split('\n', 1)[0]}`,
    ]),
  ]
}
