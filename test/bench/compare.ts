import type { BackEnd } from './back-ends.ts'
import { startFloor } from './floor/start.ts'
import { startIsobot } from './isobot.ts'
import type { Pace } from './load-process.ts'
import type { Options } from './options.ts'
import type { Servers } from './servers.ts'
import { startSide, type Result } from './side.ts'

/** What one round measured of a side. */
export interface Round {
  saturated: Result
  quiet: Result
}

export interface Comparison {
  backEnd: BackEnd
  /** Round by round; what was measured next to each other stands at the same place. */
  ours: Round[]
  floor: Round[]
}

/** By then V8 has compiled most of what is used often, on both sides: after 40 s each needs a fifth less than after 3 s. */
const firstWarmUpSeconds = 15
const warmUpSeconds = 0.5

/**
 * Measures both sides on a back end, in turn and in changing order, so that whatever else the machine does hits both.
 * A side that is not being measured is idle.
 */
export async function compare(
  backEnd: BackEnd,
  servers: Servers,
  options: Options,
  parts: AsyncDisposableStack,
): Promise<Comparison> {
  const { conversations, seconds, rounds, profileDirectory } = options
  const profiling = profileDirectory ? ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`] : []
  const common = { servers, backEnd, conversations, parts }
  const ours = await startSide('Our side', startIsobot, { ...common, nodeOptions: profiling })
  const floor = await startSide('The floor', startFloor, { ...common, nodeOptions: [] })

  const saturated: Pace = { inFlight: conversations, warmUpSeconds, seconds }
  const quiet: Pace = { inFlight: 1, warmUpSeconds, seconds: seconds / 2 }
  for (const side of [ours, floor]) await side.measure({ ...saturated, seconds: firstWarmUpSeconds })

  const comparison: Comparison = { backEnd, ours: [], floor: [] }
  for (let round = 0; round < rounds; round++) {
    const sides = [
      { side: ours, results: comparison.ours },
      { side: floor, results: comparison.floor },
    ]
    for (const { side, results } of round % 2 === 0 ? sides : sides.toReversed()) {
      results.push({ saturated: await side.measure(saturated), quiet: await side.measure(quiet) })
    }
  }
  return comparison
}
