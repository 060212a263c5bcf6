import { availableParallelism, cpus } from 'node:os'
import type { Comparison, Round } from './compare.ts'
import type { Options } from './options.ts'
import { partNames, type PartName } from './side.ts'
import { median } from './statistics.ts'

interface Measure {
  name: string
  of: (round: Round) => number
}

/** One line on the day, the machine and the runtime. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores (${model}), Node ${process.versions.node}`
}

/** One line on the load of the straight line. */
export function describeStraightLine({ seconds, conversations, rounds }: Options): string {
  return `${conversations} conversations, ${rounds} rounds of ${seconds} s; median of the rounds (smallest to largest)`
}

/** Makes the Markdown table that compares both sides. */
export function compareTable(comparisons: Comparison[], { conversations }: Options): string {
  const measures: Measure[] = [
    { name: `messages/s, ${conversations} at once`, of: ({ saturated }) => saturated.rate },
    { name: `p50 ms, ${conversations} at once`, of: ({ saturated }) => saturated.p50 },
    { name: `p99 ms, ${conversations} at once`, of: ({ saturated }) => saturated.p99 },
    { name: 'p50 ms, one at a time', of: ({ quiet }) => quiet.p50 },
    { name: 'p99 ms, one at a time', of: ({ quiet }) => quiet.p99 },
  ]
  return table(
    ['back end', 'measure', 'ours', 'floor', 'ours / floor'],
    comparisons.flatMap(({ backEnd, ours, floor }) =>
      measures.map(({ name, of }) => {
        const ratios = ours.map((round, index) => of(round) / of(floor[index]!))
        return [backEnd, name, spread(ours.map(of)), spread(floor.map(of)), median(ratios).toFixed(2)]
      }),
    ),
  )
}

/** Makes the Markdown table of the processor time at saturation; empty on systems that do not report it. */
export function processorTable(comparisons: Comparison[]): string {
  return partsTable('processor ms per message', comparisons, ({ saturated }) => saturated.processorTime)
}

/** Makes the Markdown table of the wake-ups for a lone message; empty on systems that do not report them. */
export function wakeUpsTable(comparisons: Comparison[]): string {
  return partsTable('wake-ups per lone message', comparisons, ({ quiet }) => quiet.wakeUps)
}

function partsTable(
  title: string,
  comparisons: Comparison[],
  countsOf: (round: Round) => Record<PartName, number> | undefined,
): string {
  const sides = comparisons.flatMap(({ backEnd, ours, floor }) => [
    { backEnd, side: 'ours', rounds: ours },
    { backEnd, side: 'floor', rounds: floor },
  ])
  if (sides.some(({ rounds }) => rounds.some((round) => countsOf(round) === undefined))) return ''
  return table(
    ['back end', title, ...partNames, 'all'],
    sides.map(({ backEnd, side, rounds }) => {
      const counts = partNames.map((part) => median(rounds.map((round) => countsOf(round)![part])))
      const all = counts.reduce((sum, count) => sum + count, 0)
      return [backEnd, side, ...[...counts, all].map((count) => count.toFixed(2))]
    }),
  )
}

/** The median, minimum and maximum of the rounds. */
export function spread(values: number[]): string {
  return `${round(median(values))} (${round(Math.min(...values))} to ${round(Math.max(...values))})`
}

/** A figure with as many decimals as are significant. */
export function round(value: number): string {
  if (value >= 100) return value.toFixed(0)
  if (value < 0.01) return value.toPrecision(2)
  return value.toFixed(value < 1 ? 2 : 1)
}

/** A Markdown table whose columns are aligned. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
