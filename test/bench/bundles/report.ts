import type { Options } from '../options.ts'
import { round, spread, table } from '../report.ts'
import { median } from '../statistics.ts'
import type { BundleComparison } from './compare.ts'
import type { Measured } from './measure.ts'

const measures: { name: string; of: (measured: Measured) => number | undefined }[] = [
  { name: 'ms, first event when cold', of: ({ cold }) => cold },
  { name: 'ms, first event after an eviction', of: ({ again }) => again },
  { name: 'ms, event when warm', of: ({ warm }) => warm },
]

/** One line on how the bots were measured. */
export function describeBundles({ rounds }: Options): string {
  return `Echo bots, one event at a time, ${rounds} rounds; median of the rounds' medians (smallest to largest)`
}

/** Makes the Markdown table that compares both sides' times for a bot's events. */
export function bundlesTable(comparisons: BundleComparison[]): string {
  const rows = comparisons.flatMap(({ name, ours, floor }) => [
    ...measures.map((measure) =>
      row(
        name,
        measure.name,
        ours.flatMap((each) => measure.of(each) ?? []),
        floor.flatMap((each) => measure.of(each) ?? []),
      ),
    ),
    ...memoryRow(name, ours),
  ])
  return table(['bot', 'measure', 'ours', 'floor', 'ours / floor'], rows)
}

/** The floor evicts no bots. */
function row(bot: string, measure: string, ours: number[], floor: number[]): string[] {
  const ratios = floor.length === 0 ? [] : ours.map((figure, index) => figure / floor[index]!)
  return [bot, measure, spread(ours), ...(ratios.length === 0 ? ['', ''] : [spread(floor), round(median(ratios))])]
}

/** The floor has no isolates. */
function memoryRow(bot: string, ours: BundleComparison['ours']): string[][] {
  const megabytes = ours.flatMap((round) => round.megabytes ?? [])
  return megabytes.length === 0 ? [] : [[bot, 'MB for each isolate', spread(megabytes), '', '']]
}
