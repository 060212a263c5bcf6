import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { backEnds } from '../bench/back-ends.ts'
import { faultKinds, type FaultKind } from './faults.ts'
import { describeReport, isClean } from './report.ts'
import { describeHandover, runHandoverChaos, type HandoverChaosOptions } from './handover.ts'
import { describeModels, runModelChaos, type ModelChaosOptions } from './models.ts'
import { runChaos, type ChaosOptions } from './run.ts'
import { describeUpgrade, isUpgradeClean, runUpgradeChaos, type UpgradeOptions } from './upgrade.ts'
import { describeWebchat, runWebchatChaos, type WebchatChaosOptions } from './webchat.ts'
import { describeWorkflows, runWorkflowChaos, type WorkflowChaosOptions } from './workflows.ts'

const defaultKinds = faultKinds.join(',')
/** The faults that cut calls of models, and leave the users alone. */
const modelFaults = ['worker killed', 'sandbox killed'] as const
/** The faults that a visitor's browser notices. */
const webchatFaults = ['api killed', 'worker killed', 'network cut', 'network silent', 'answers lost'] as const

const usage = `Usage: npm run chaos -- [options]
  --backend redis|postgres|both   where jobs and signals live (both)
  --bot text|data|flow|webchat|handover|workflow|model|media
                                  a bot of hooks, one that also writes files and tables as do programs over HTTP, one of
                                  flows, one that visitors talk to in browsers, one that hands conversations over to
                                  agents, one of workflows, one that asks language models, or one that has models
                                  make pictures and speech, and transcribe (text)
  --messages <number>             messages at least (10000)
  --conversations <number>        conversations at once (200)
  --faults <number>               things that go wrong (60)
  --spacing <seconds>             between two of them, on average (4)
  --apis <number>                 api processes (2)
  --workers <number>              worker processes (2)
  --only <kinds>                  what may go wrong, with commas between (everything)
  --upgrade <commit>              in place of faults, the platform is upgraded from this commit, with --bot text or flow
  --visits <number>               conversations in browsers, with --bot webchat (100)
  --seed <number>                 repeats a plan of faults (a new one)
  --logs <level>                  what the processes log (fatal)`

/**
 * `npm run chaos`: users talk to a bot while processes are killed, servers crash and the network fails; afterwards the
 * result is compared with that of a run without faults. See the README in this folder.
 */
async function main(): Promise<void> {
  let runs: Run[] | UpgradeOptions[]
  try {
    runs = readOptions()
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    process.exitCode = 1
    return
  }
  const stopped = untilStopped()
  for (const options of runs) {
    await using parts = new AsyncDisposableStack()
    const how = await Promise.race([runAndReport(options, parts), stopped])
    if (how !== 'stopped') continue
    await parts.disposeAsync()
    // Processes that are just being started end with this one.
    process.exit(130)
  }
}

/** `webchat` has visitors in browsers and `handover` agents beside the users; the others have users over HTTP. */
type Run =
  | ChaosOptions
  | ({ bot: 'webchat' } & WebchatChaosOptions)
  | ({ bot: 'handover' } & HandoverChaosOptions)
  | ({ bot: 'workflow' } & WorkflowChaosOptions)
  | ({ bot: 'model' } & ModelChaosOptions)
  | ({ bot: 'media' } & ModelChaosOptions)

async function runAndReport(options: Run | UpgradeOptions, parts: AsyncDisposableStack): Promise<void> {
  console.error(`Chaos on ${options.backEnd}, seed ${options.seed}`)
  const begunAt = performance.now()
  const tell = (line: string) =>
    console.error(`${((performance.now() - begunAt) / 1000).toFixed(0).padStart(4)} s  ${line}`)
  if ('commit' in options) {
    const report = await runUpgradeChaos(options, parts, tell)
    console.log(describeUpgrade(report))
    if (!isUpgradeClean(report)) process.exitCode = 1
    return
  }
  if (options.bot === 'webchat') {
    const report = await runWebchatChaos(options, parts, tell)
    console.log(describeWebchat(report))
    if (report.differences.length > 0) process.exitCode = 1
    return
  }
  if (options.bot === 'handover') {
    const report = await runHandoverChaos(options, parts, tell)
    console.log(describeHandover(report))
    if (report.differences.length > 0) process.exitCode = 1
    return
  }
  if (options.bot === 'workflow') {
    const report = await runWorkflowChaos(options, parts, tell)
    console.log(describeWorkflows(report))
    if (report.differences.length > 0) process.exitCode = 1
    return
  }
  if (options.bot === 'model' || options.bot === 'media') {
    const report = await runModelChaos(options, parts, tell)
    console.log(describeModels(report))
    if (report.differences.length > 0) process.exitCode = 1
    return
  }
  const report = await runChaos(options, parts, tell)
  console.log(describeReport(report))
  if (!isClean(report)) process.exitCode = 1
}

async function untilStopped(): Promise<'stopped'> {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  return 'stopped'
}

function readOptions(): Run[] | UpgradeOptions[] {
  const { values } = parseArgs({
    options: {
      backend: { type: 'string', default: 'both' },
      bot: { type: 'string', default: 'text' },
      messages: { type: 'string', default: '10000' },
      conversations: { type: 'string', default: '200' },
      faults: { type: 'string', default: '60' },
      spacing: { type: 'string', default: '4' },
      apis: { type: 'string', default: '2' },
      workers: { type: 'string', default: '2' },
      only: { type: 'string', default: defaultKinds },
      upgrade: { type: 'string' },
      visits: { type: 'string', default: '100' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      logs: { type: 'string', default: 'fatal' },
    },
  })
  const chosen = backEnds.filter((name) => values.backend === name || values.backend === 'both')
  if (chosen.length === 0) throw new Error(`--backend must be redis, postgres or both, not '${values.backend}'`)
  const { bot } = values
  if (!isBot(bot)) throw new Error(`--bot must be ${bots.join(', ')}, not '${bot}'`)
  const only = values.only.split(',')
  const kinds = faultKinds.filter((kind) => only.includes(kind))
  if (kinds.length < only.length) throw new Error(`--only must be of: ${faultKinds.join(', ')}`)
  const common = {
    apis: positive('apis', values.apis),
    workers: positive('workers', values.workers),
    seed: positive('seed', values.seed),
    messages: positive('messages', values.messages),
    conversations: positive('conversations', values.conversations),
    drainMilliseconds: 120_000,
    settings: {},
    environment: { LOG_LEVEL: values.logs },
  }
  const { upgrade: commit } = values
  if (commit !== undefined) {
    if (bot !== 'text' && bot !== 'flow') throw new Error(`--upgrade has --bot text or flow, not '${bot}'`)
    return chosen.map((backEnd) => ({ ...common, backEnd, bot, commit }))
  }
  return chosen.map((backEnd) => ({
    ...common,
    backEnd,
    bot,
    // Workflows that have worked for long wait a twentieth of that time for each update.
    ...(bot === 'workflow' && { drainMilliseconds: 300_000 }),
    kinds: values.only === defaultKinds ? usualFaults(bot) : kinds,
    visits: positive('visits', values.visits),
    faults: positive('faults', values.faults),
    spacingMilliseconds: positive('spacing', values.spacing) * 1000,
  }))
}

const bots = ['text', 'data', 'flow', 'webchat', 'handover', 'workflow', 'model', 'media'] as const

function isBot(text: string): text is (typeof bots)[number] {
  return (bots as readonly string[]).includes(text)
}

function usualFaults(bot: (typeof bots)[number]): readonly FaultKind[] {
  if (bot === 'webchat') return webchatFaults
  return bot === 'model' || bot === 'media' ? modelFaults : faultKinds
}

function positive(name: string, text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${name} must be a whole number above zero, not '${text}'`)
}

await main()
