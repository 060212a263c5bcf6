import type { Options } from '../options.ts'
import { round, spread, table } from '../report.ts'
import { median } from '../statistics.ts'
import type { BundleComparison } from './compare.ts'
import type { Measured } from './measure.ts'

const measures: { name: string; of: (measured: Measured) => number }[] = [
  { name: 'ms, first event when cold', of: ({ cold }) => cold },
  { name: 'ms, event when warm', of: ({ warm }) => warm },
]

/** One line on how the bots were measured. */
export function describeBundles({ rounds }: Options): string {
  return `Echo bots, one event at a time, ${rounds} rounds; median of the rounds' medians (smallest to largest)`
}

/** Makes the Markdown table that compares both sides' times for a bot's events. */
export function bundlesTable(comparisons: BundleComparison[]): string {
  const rows = comparisons.flatMap(({ kind, ours, floor }) => [
    ...measures.map(({ name, of }) => {
      const ratios = ours.map((round, index) => of(round) / of(floor[index]!))
      return [kind, name, spread(ours.map(of)), spread(floor.map(of)), round(median(ratios))]
    }),
    ...memoryRow(kind, ours),
  ])
  return table(['bot', 'measure', 'ours', 'floor', 'ours / floor'], rows)
}

/** The floor has no isolates. */
function memoryRow(kind: string, ours: BundleComparison['ours']): string[][] {
  const megabytes = ours.flatMap((round) => round.megabytes ?? [])
  return megabytes.length === 0 ? [] : [[kind, 'MB for each isolate', spread(megabytes), '', '']]
}
