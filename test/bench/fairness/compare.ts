import type { BackEnd } from '../back-ends.ts'
import { echoBot, startBots } from '../isobot.ts'
import type { Servers } from '../servers.ts'
import { percentile } from '../statistics.ts'
import { startFairnessLoad } from './users.ts'

/** Code that a hook of the flooded bot runs before its reply. */
export const floods = {
  '50 ms of processor time': 'const end = Date.now() + 50; while (Date.now() < end);',
  '200 ms of waiting': 'await new Promise((resolve) => setTimeout(resolve, 200));',
} as const

export type Flood = keyof typeof floods

export const floodMessages = 10_000
const floodConversations = 500
/** One message per second each; this number of bots gives enough samples for a p99 in a short time. */
export const quietBots = 10
export const talkSeconds = 20
const warmUpSeconds = 5

/** Milliseconds from sending a message to a quiet bot to receiving its reply. */
export interface Latencies {
  p50: number
  p99: number
}

export interface FairnessComparison {
  backEnd: BackEnd
  flood: Flood
  quiet: Latencies
  /** While the flood arrives. */
  arriving: Latencies
  /** After its arrival, while it waits. */
  waiting: Latencies
  /** Messages of the flood that still wait after that. */
  left: number
}

/** Measures quiet bots alone, and then while another bot is flooded, on the same processes. */
export async function compareFairness(backEnd: BackEnd, flood: Flood, servers: Servers): Promise<FairnessComparison> {
  await using parts = new AsyncDisposableStack()
  const database = `fairness_${Object.keys(floods).indexOf(flood)}_on_${backEnd}`
  const options = { servers, backEnd, conversations: 1, nodeOptions: [], parts }
  const quietCodes = Array.from({ length: quietBots }, () => ({ code: echoBot(), conversations: 1 }))
  const slowBot = { code: echoBot(floods[flood]), conversations: floodConversations }
  const { bots, countWaiting } = await startBots(database, [slowBot, ...quietCodes], options)
  const [flooded, ...quiet] = bots
  const load = await startFairnessLoad(quiet, flooded!, parts)
  await load.talk(warmUpSeconds)
  return {
    backEnd,
    flood,
    quiet: summary(await load.talk(talkSeconds)),
    arriving: summary(await load.talkAndFlood(talkSeconds, floodMessages)),
    waiting: summary(await load.talk(talkSeconds)),
    left: await countWaiting(),
  }
}

function summary(latencies: number[]): Latencies {
  const sorted = latencies.toSorted((a, b) => a - b)
  return { p50: percentile(sorted, 50), p99: percentile(sorted, 99) }
}
