import type { BackEnd } from './back-ends.ts'
import { startFloor } from './floor/start.ts'
import { startIsobot } from './isobot.ts'
import type { Pace } from './load-process.ts'
import type { Options } from './options.ts'
import type { Servers } from './servers.ts'
import { startSide, type Result } from './side.ts'

/** The measurements of a side in one round. */
export interface Round {
  saturated: Result
  quiet: Result
}

export interface Comparison {
  backEnd: BackEnd
  /** By round; measurements that were made next to each other have the same index. */
  ours: Round[]
  floor: Round[]
}

/**
 * Within this time, V8 compiles most of the hot code on both sides: after 40 s each needs a fifth less than after 3 s.
 */
const firstWarmUpSeconds = 15
const warmUpSeconds = 0.5

/**
 * Measures both sides on a back end, in turn and in changing order, so that other load on the machine affects both. The
 * side that is not measured is idle.
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
