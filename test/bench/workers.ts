import { cpus } from 'node:os'
import type { BackEnd } from './back-ends.ts'
import { quietBots } from './fairness/compare.ts'
import { startQuietUsers } from './fairness/users.ts'
import { echoBot, startBots } from './isobot.ts'
import { startLoad, type Load } from './load-process.ts'
import type { Options } from './options.ts'
import { readProcessorTimes } from './processor-time.ts'
import { round, table } from './report.ts'
import type { Servers } from './servers.ts'
import { median, percentile } from './statistics.ts'

/** How long the hooks wait, in milliseconds. The shorter they wait, the more messages the slots and the processors take. */
const waits = [200, 500] as const
/** Slots of each worker. */
const slots = 20
const busyBots = 6
const counts = [1, 2, 3] as const
/** More messages in flight than three workers have slots. */
const conversationsPerBot = 25
/** A worker that has just started compiles most of its hot code in this time. */
const firstWarmUpSeconds = 10
const warmUpSeconds = 2
const seconds = 5

interface Round {
  /** Messages/s to the busy bots. */
  rate: number
  /** Milliseconds of the replies to the quiet bots meanwhile. */
  quiet: number[]
  /** Processors of the machine in use, by everything that runs on it. */
  processors: number
  /**
   * The platform's processor time for a message in milliseconds, with PostgreSQL and Redis; undefined on other systems than
   * Linux.
   */
  perMessage: number | undefined
}

export interface WorkersComparison {
  backEnd: BackEnd
  waitMilliseconds: number
  /** The rounds with one, two and three workers. */
  rounds: Round[][]
}

/** Measures busy bots whose hooks wait, and quiet bots beside them, with more and more workers. */
export async function compareWorkers(
  backEnd: BackEnd,
  servers: Servers,
  options: Options,
): Promise<WorkersComparison[]> {
  const comparisons = []
  for (const milliseconds of waits) comparisons.push(await compareWaiting(milliseconds, backEnd, servers, options))
  return comparisons
}

async function compareWaiting(
  waitMilliseconds: number,
  backEnd: BackEnd,
  servers: Servers,
  { rounds }: Options,
): Promise<WorkersComparison> {
  await using parts = new AsyncDisposableStack()
  const wait = `await new Promise((resolve) => setTimeout(resolve, ${waitMilliseconds}));`
  const busy = Array.from({ length: busyBots }, () => ({ code: echoBot(wait), conversations: conversationsPerBot }))
  const quiet = Array.from({ length: quietBots }, () => ({ code: echoBot(), conversations: 1 }))
  const host = await startBots(
    `workers_on_${backEnd}_${waitMilliseconds}`,
    [...busy, ...quiet],
    { servers, backEnd, conversations: 1, nodeOptions: [], parts },
    { WORKER_CONCURRENCY: String(slots) },
  )
  const workers = [host.processes.worker]
  const loads: Load[] = []
  for (const bot of host.bots.slice(0, busyBots)) loads.push(await startLoad({ ...bot, repliesIn: 'stream' }, parts))
  const quietUsers = await startQuietUsers(host.bots.slice(busyBots), parts)

  async function readPlatform(): Promise<number | undefined> {
    const times = await readProcessorTimes()
    const pids = [host.processes.api, ...workers, servers.postgres.pid, servers.redis.pid]
    return times && pids.reduce((sum, pid) => sum + times.own(pid) + times.below(pid), 0)
  }

  async function measure(warmUp: number): Promise<Round> {
    const begin = readProcessors()
    const before = await readPlatform()
    const [latencies, ...measured] = await Promise.all([
      quietUsers.talk(warmUp + seconds),
      ...loads.map((load) => load.measure({ inFlight: conversationsPerBot, warmUpSeconds: warmUp, seconds })),
    ])
    const after = await readPlatform()
    const end = readProcessors()
    const messages = measured.reduce((sum, load) => sum + load.messages, latencies.length)
    return {
      rate: measured.reduce((sum, { rate }) => sum + rate, 0),
      quiet: latencies,
      processors: (end.busy - begin.busy) / (end.at - begin.at),
      perMessage: before === undefined || after === undefined ? undefined : (after - before) / messages,
    }
  }

  const comparison: WorkersComparison = { backEnd, waitMilliseconds, rounds: [] }
  for (const count of counts) {
    if (count > 1) workers.push(await host.startWorker())
    await measure(firstWarmUpSeconds)
    const measured = []
    for (let index = 0; index < rounds; index++) measured.push(await measure(warmUpSeconds))
    comparison.rounds.push(measured)
  }
  return comparison
}

/** The milliseconds that the machine's processors have been in use, and the time of the reading. */
function readProcessors(): { busy: number; at: number } {
  const busy = cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
  return { busy, at: performance.now() }
}

/** One line on the load. */
export function describeWorkers(): string {
  return `${busyBots} bots whose hooks wait, ${conversationsPerBot} messages in flight each, and ${quietBots} quiet ones; workers of ${slots} slots`
}

const rateOf = (measured: Round[]) => median(measured.map(({ rate }) => rate))

/** Makes the Markdown table of the rates by the number of workers. */
export function workersTable(comparisons: WorkersComparison[]): string {
  return table(
    [
      'back end',
      'hooks wait, ms',
      'workers',
      'messages/s',
      'of one worker',
      'slots that wait in hooks',
      'quiet bots, p50 ms',
      'p99 ms',
      'processors in use',
      'processor ms per message',
    ],
    comparisons.flatMap(({ backEnd, waitMilliseconds, rounds }) => {
      return rounds.map((measured, index) => {
        const rate = rateOf(measured)
        const used = (rate * waitMilliseconds) / 1000 / (slots * counts[index]!)
        const quiet = measured.flatMap((each) => each.quiet).toSorted((a, b) => a - b)
        const perMessage = measured.flatMap((each) => each.perMessage ?? [])
        return [
          backEnd,
          String(waitMilliseconds),
          String(counts[index]),
          round(rate),
          (rate / rateOf(rounds[0]!)).toFixed(2),
          used.toFixed(2),
          round(percentile(quiet, 50)),
          round(percentile(quiet, 99)),
          `${median(measured.map(({ processors }) => processors)).toFixed(2)} of ${String(cpus().length)}`,
          perMessage.length === 0 ? '' : round(median(perMessage)),
        ]
      })
    }),
  )
}
