import type { Options } from '../options.ts'
import { botKinds, type BotKind } from './bots.ts'
import { measureCapacity, measureOurCapacity, type Capacity } from './capacity.ts'
import { findPrograms, sideNames, startSide, type Program, type Side, type SideName } from './sides.ts'

/** Number of bots that are kept. */
export const keptBots = 100

/** The measurements of one side in one round: medians, in milliseconds unless the name has another unit. */
export interface SideFigures {
  /** Cold starts in a row, by the bot's globals; absent for a side without these globals. */
  cold: Partial<Record<BotKind, number>>
  /** Cold starts with a pause between them. */
  coldAfterPause: Partial<Record<BotKind, number>>
  warm: number
  warmAsking: number
  callsPerSecond: number
  askingCallsPerSecond: number
  /** Per kept bot. */
  megabytes?: number
}

export interface SandboxComparison {
  /** By round; measurements that were made next to each other have the same index. */
  rounds: Record<SideName, SideFigures[]>
  /** The number of bots that fit, measured once, because it does not depend on time. */
  capacities: Partial<Record<SideName, Capacity>>
  /** The reason why Deno was not measured; absent if it was. */
  withoutDeno?: string
}

/** Measures small bots in our sandbox, in Deno's workers and in bare isolates, in turn and in changing order. */
export async function compareSandboxes({ rounds }: Options, parts: AsyncDisposableStack): Promise<SandboxComparison> {
  const { programs, withoutDeno } = await findPrograms()
  const figures: SandboxComparison['rounds'] = { ours: [], deno: [], bare: [] }
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? sideNames : sideNames.toReversed()) {
      const program = programs[name]
      if (program) figures[name].push(await measureSide(name, program, parts))
    }
  }
  const ours = await measureOurCapacity(parts)
  const deno = programs.deno && (await measureCapacity('deno', programs.deno, parts))
  const bare = await measureCapacity('bare', programs.bare, parts)
  return {
    rounds: figures,
    capacities: { ...(ours && { ours }), ...(deno && { deno }), ...(bare && { bare }) },
    ...(withoutDeno !== undefined && { withoutDeno }),
  }
}

async function measureSide(name: SideName, program: Program, parts: AsyncDisposableStack): Promise<SideFigures> {
  const kinds = name === 'bare' ? (['plain'] as const) : botKinds
  const cold = (pauses: boolean) =>
    alone(name, program, parts, async (side) => {
      const times: SideFigures['cold'] = {}
      for (const kind of kinds) times[kind] = await side.ask({ measure: 'cold', kind, pauses })
      return times
    })
  const atOnce = await cold(false)
  const afterPause = await cold(true)
  return alone(name, program, parts, async (side) => {
    const warm = await side.ask({ measure: 'warm', asks: false })
    const warmAsking = await side.ask({ measure: 'warm', asks: true })
    const before = await side.megabytes()
    await side.ask({ measure: 'fill', bots: keptBots })
    const after = await side.megabytes()
    return {
      cold: atOnce,
      coldAfterPause: afterPause,
      warm,
      warmAsking,
      callsPerSecond: await side.ask({ measure: 'rate', asks: false }),
      askingCallsPerSecond: await side.ask({ measure: 'rate', asks: true }),
      ...(before && after && { megabytes: (after - before) / keptBots }),
    }
  })
}

/** Runs a measurement in a process of its own, which ends with it. */
async function alone<Result>(
  name: SideName,
  program: Program,
  parts: AsyncDisposableStack,
  measure: (side: Side) => Promise<Result>,
): Promise<Result> {
  await using own = parts.use(new AsyncDisposableStack())
  return await measure(startSide(name, program, own))
}
