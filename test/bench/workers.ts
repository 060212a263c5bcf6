import type { BackEnd } from './back-ends.ts'
import { echoBot, startBots } from './isobot.ts'
import { startLoad, type Load } from './load-process.ts'
import type { Options } from './options.ts'
import { round, table } from './report.ts'
import type { Servers } from './servers.ts'
import { median } from './statistics.ts'

const waitMilliseconds = 200
/** Slots of each worker. */
const slots = 20
const busyBots = 6
const counts = [1, 2, 3] as const
/** More messages in flight than three workers have slots. */
const conversationsPerBot = 25
const warmUpSeconds = 2
const seconds = 5

export interface WorkersComparison {
  backEnd: BackEnd
  /** For each number of workers, messages/s in each round. */
  rates: number[][]
  /** Milliseconds of a reply to a bot with one conversation meanwhile, in each round. */
  quiet: { p50: number; p99: number }[][]
}

/** Measures busy bots whose hooks wait, and a bot with one conversation beside them, with more and more workers. */
export async function compareWorkers(
  backEnd: BackEnd,
  servers: Servers,
  { rounds }: Options,
): Promise<WorkersComparison> {
  await using parts = new AsyncDisposableStack()
  const options = { servers, backEnd, conversations: 1, nodeOptions: [], parts }
  const wait = `await new Promise((resolve) => setTimeout(resolve, ${waitMilliseconds}));`
  const busy = Array.from({ length: busyBots }, () => ({ code: echoBot(wait), conversations: conversationsPerBot }))
  const environment = { WORKER_CONCURRENCY: String(slots) }
  const host = await startBots(
    `workers_on_${backEnd}`,
    [...busy, { code: echoBot(), conversations: 1 }],
    options,
    environment,
  )
  const loads: Load[] = []
  for (const bot of host.bots) loads.push(await startLoad({ ...bot, repliesIn: 'stream' }, parts))
  const quietLoad = loads.pop()!

  const comparison: WorkersComparison = { backEnd, rates: [], quiet: [] }
  for (const count of counts) {
    if (count > 1) await host.startWorker()
    const rates = []
    const quiet = []
    for (let index = 0; index < rounds; index++) {
      const [measured, ...others] = await Promise.all([
        quietLoad.measure({ inFlight: 1, warmUpSeconds, seconds }),
        ...loads.map((load) => load.measure({ inFlight: conversationsPerBot, warmUpSeconds, seconds })),
      ])
      quiet.push(measured)
      rates.push(others.reduce((sum, { rate }) => sum + rate, 0))
    }
    comparison.rates.push(rates)
    comparison.quiet.push(quiet)
  }
  return comparison
}

/** One line on the load. */
export function describeWorkers(): string {
  return `${busyBots} bots whose hooks wait for ${waitMilliseconds} ms, ${conversationsPerBot} messages in flight each; workers of ${slots} slots`
}

/** Makes the Markdown table of the rates by the number of workers. */
export function workersTable(comparisons: WorkersComparison[]): string {
  return table(
    ['back end', 'workers', 'messages/s', 'of one worker', 'slots that wait in hooks', 'quiet bot, p50 ms', 'p99 ms'],
    comparisons.flatMap(({ backEnd, rates, quiet }) => {
      const one = median(rates[0]!)
      return rates.map((rounds, index) => {
        const rate = median(rounds)
        const used = (rate * waitMilliseconds) / 1000 / (slots * counts[index]!)
        const [p50, p99] = [quiet[index]!.map((each) => each.p50), quiet[index]!.map((each) => each.p99)]
        return [
          backEnd,
          String(counts[index]),
          round(rate),
          (rate / one).toFixed(2),
          used.toFixed(2),
          round(median(p50)),
          round(median(p99)),
        ]
      })
    }),
  )
}
