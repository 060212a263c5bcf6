import { execFile } from 'node:child_process'
import { mkdtemp, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { extract } from 'tar'
import { botCode } from './bot.ts'
import { findDifferences, type Differences } from './check.ts'
import { flowBotCode } from './flow-bot.ts'
import { openChaosPlatform, type ChaosPlatform, type PlatformOptions } from './platform.ts'
import { chancesFrom } from './random.ts'
import { stopMembers, untilHandled } from './run.ts'
import { talk, type Counts } from './talk.ts'

const run = promisify(execFile)
/** Each step lasts so long at least, so that all processes have a part in it. */
const stepMilliseconds = 3000
const repository = join(import.meta.dirname, '..', '..')

export interface UpgradeOptions extends PlatformOptions {
  bot: 'text' | 'flow'
  /** Where the platform begins: a commit of this repository. */
  commit: string
  seed: number
  /** Minimum number of messages. */
  messages: number
  conversations: number
  drainMilliseconds: number
}

/** The steps of an upgrade, and its result. */
export interface UpgradeReport {
  options: UpgradeOptions
  counts: Counts
  /** Migrations that ran while old processes served. */
  migrations: string[]
  /** Messages that were acknowledged until each step ended. */
  steps: { step: string; acknowledged: number }[]
  seconds: number
  waiting: number
  surprises: string[]
  differences: Differences
}

/**
 * Makes users talk to a bot while a platform is upgraded from a former commit to this code: the release step runs, old and
 * new processes work side by side, one of each is killed, and the old ones are replaced one after the other.
 *
 * @param parts receives what has to be closed afterwards
 * @param tell receives the progress
 */
export async function runUpgradeChaos(
  options: UpgradeOptions,
  parts: AsyncDisposableStack,
  tell: (line: string) => void,
): Promise<UpgradeReport> {
  const checkout = await checkOut(options.commit, parts, tell)
  const platform = await openChaosPlatform({ ...options, checkout }, parts)
  const hasFlows = options.bot === 'flow'
  const { chatPath, talks } = await platform.openTalks(options.conversations, hasFlows ? flowBotCode : botCode())
  const counts: Counts = { acknowledged: 0, replayed: 0, refusals: new Map() }
  const begunAt = performance.now()
  let isOver = false
  const speakers = {
    apiUrls: platform.apiUrls,
    chatPath,
    chances: chancesFrom(options.seed),
    pauseMilliseconds: 300,
    isOver: () => isOver,
  }
  const talking = Promise.all(talks.map((each) => talk(each, speakers, counts)))
  const upgrading = upgrade(platform, { options, counts, tell }).finally(() => (isOver = true))
  const [{ steps, migrations }] = await Promise.all([upgrading, talking])
  const seconds = (performance.now() - begunAt) / 1000
  const waiting = await untilHandled(platform, options.drainMilliseconds, tell)
  const surprises = await stopMembers(platform)
  const differences = await findDifferences(platform.databaseUrl(), talks, { hasFlows })
  return { options, counts, migrations, steps, seconds, waiting, surprises, differences }
}

async function upgrade(
  platform: ChaosPlatform,
  { options, counts, tell }: { options: UpgradeOptions; counts: Counts; tell: (line: string) => void },
): Promise<Pick<UpgradeReport, 'steps' | 'migrations'>> {
  const steps: UpgradeReport['steps'] = []
  const former = [...platform.members]
  const countOf = former.length + 4
  const step = async (name: string) => {
    tell(`${counts.acknowledged} messages; ${name}`)
    const until = counts.acknowledged + options.messages / countOf
    await pause(stepMilliseconds)
    while (counts.acknowledged < until) await pause(20)
    steps.push({ step: name, acknowledged: counts.acknowledged })
  }

  await step('old processes alone')
  const before = await platform.listMigrations()
  await platform.release()
  const migrations = (await platform.listMigrations()).filter((name) => !before.includes(name))
  await step(`old processes, after ${migrations.length} migrations`)
  const [worker] = await Promise.all([platform.addWorker(), platform.addApi()])
  await step('old and new processes')
  // One version may have to finish an event that the other one began.
  worker.signal('SIGKILL')
  former.find(({ kind }) => kind === 'worker')!.signal('SIGKILL')
  await step('old and new processes, after one worker of each was killed')
  for (const member of former) {
    await platform.remove(member)
    if (member !== former.at(-1)) await (member.kind === 'api' ? platform.addApi() : platform.addWorker())
    await step(`an old ${member.kind} was replaced`)
  }
  return { steps, migrations }
}

/** Writes the files of a commit to a folder of their own, with the packages that it needs. */
async function checkOut(commit: string, parts: AsyncDisposableStack, tell: (line: string) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'isobot-upgrade-'))
  parts.defer(() => rm(folder, { recursive: true, force: true }))
  const archive = join(folder, 'archive.tar')
  const checkout = join(folder, 'checkout')
  await mkdir(checkout)
  await run('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: repository })
  await extract({ file: archive, cwd: checkout })
  if (await hasItsPackages(checkout)) {
    await symlink(join(repository, 'node_modules'), join(checkout, 'node_modules'))
  } else {
    tell(`Installing the packages of ${commit}`)
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: checkout })
  }
  return checkout
}

/** Whether this repository has installed all packages that a checkout asks for, in the same versions. */
async function hasItsPackages(checkout: string): Promise<boolean> {
  const [own, other] = await Promise.all([repository, checkout].map(dependenciesOf))
  return Object.entries(other!).every(([name, version]) => own![name] === version)
}

async function dependenciesOf(folder: string): Promise<Record<string, string>> {
  const text = await readFile(join(folder, 'package.json'), 'utf8')
  return (JSON.parse(text) as { dependencies: Record<string, string> }).dependencies
}

/** Whether the result equals that of a platform that was not upgraded. */
export function isUpgradeClean({ differences, waiting, surprises }: UpgradeReport): boolean {
  const { examples: _examples, ...counts } = differences
  return waiting === 0 && surprises.length === 0 && Object.values(counts).every((count) => count === 0)
}

/** Describes the counts of an upgrade, in lines. */
export function describeUpgrade(report: UpgradeReport): string {
  const { options, counts, migrations, steps, seconds, waiting, surprises, differences } = report
  const refusals = [...counts.refusals].map(([status, count]) => `${status || 'no answer'} ${count}`)
  return [
    `Upgrade from ${options.commit} on ${options.backEnd}: ${isUpgradeClean(report) ? 'no difference' : 'DIFFERENCES'}`,
    `  ${counts.acknowledged} messages acknowledged in ${options.conversations} conversations, in ${seconds.toFixed(0)} s; ` +
      `${options.apis} api processes and ${options.workers} workers were replaced`,
    `  retries: ${refusals.join(', ') || 'none'}; ${counts.replayed} answered from the first request`,
    `  migrations beside old processes: ${migrations.join(', ') || 'none'}`,
    ...steps.map(({ step, acknowledged }) => `  ${String(acknowledged).padStart(6)} messages: ${step}`),
    `  still waiting ${waiting}; lost ${differences.lost}, duplicates ${differences.duplicates}, out of order ` +
      `${differences.outOfOrder}, other answers ${differences.otherAnswers}, other states ${differences.otherStates}, ` +
      `other log lines ${differences.otherLogs}, not processed ${differences.unprocessed}`,
    ...surprises.map((surprise) => `    ${surprise}`),
    ...differences.examples.map((example) => `    ${example}`),
  ].join('\n')
}
