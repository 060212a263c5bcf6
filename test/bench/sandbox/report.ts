import type { Options } from '../options.ts'
import { round, spread, table } from '../report.ts'
import { median } from '../statistics.ts'
import { botKinds, type BotKind } from './bots.ts'
import { sandboxShare, workerMegabytes } from './capacity.ts'
import { keptBots, type SandboxComparison, type SideFigures } from './compare.ts'
import { sideNames, type SideName } from './sides.ts'

interface Measure {
  name: string
  of: (figures: SideFigures) => number | undefined
}

const uses: Record<BotKind, string> = {
  plain: 'language only',
  web: 'URL and fetch',
  streams: 'streams',
  subtle: 'crypto.subtle',
  buffer: 'Buffer',
}

const cold = botKinds.flatMap((kind): Measure[] => [
  { name: `ms, cold, ${uses[kind]}`, of: ({ coldAfterPause }) => coldAfterPause[kind] },
  { name: `ms, cold in a row, ${uses[kind]}`, of: (figures) => figures.cold[kind] },
])

const measures: Measure[] = [
  ...cold,
  { name: 'ms, warm call', of: ({ warm }) => warm },
  { name: 'ms, warm call that calls the platform', of: ({ warmAsking }) => warmAsking },
  { name: `calls/s over ${keptBots} bots`, of: ({ callsPerSecond }) => callsPerSecond },
  { name: `calls/s that call the platform`, of: ({ askingCallsPerSecond }) => askingCallsPerSecond },
  { name: 'MB for each warm bot', of: ({ megabytes }) => megabytes },
]

/** One line on how the bots were measured. */
export function describeSandboxes({ rounds }: Options): string {
  return `Small bots, ${rounds} rounds; median of the rounds (smallest to largest)`
}

/** One line on why Deno's columns are empty. */
export function describeAbsence({ withoutDeno }: SandboxComparison): string {
  return withoutDeno === undefined ? '' : `The columns of Deno are empty: ${withoutDeno}`
}

/** Makes the Markdown table that compares the three sides. */
export function sandboxesTable({ rounds, capacities }: SandboxComparison): string {
  const rows = measures.map(({ name, of }) => [
    name,
    ...sideNames.map((side) => valuesOf(rounds[side], of)),
    ratio(rounds, 'deno', of),
    ratio(rounds, 'bare', of),
  ])
  const bots = (side: SideName) => capacities[side]?.bots
  rows.push([
    `bots warm in ${workerMegabytes} MB`,
    ...sideNames.map((side) => String(bots(side) ?? '')),
    ...(['deno', 'bare'] as const).map((side) => ratioOf(bots('ours'), bots(side))),
  ])
  return table(['measure', 'ours', 'Deno worker', 'bare isolate', 'ours / Deno', 'ours / bare'], rows)
}

/** One line on the memory of the worker and its sandbox process with the maximum of bots. */
export function describeCapacity({ capacities: { ours } }: SandboxComparison): string {
  if (!ours?.workerMegabytes) return ''
  const [worker, sandbox] = [round(ours.workerMegabytes), round(ours.botsMegabytes)]
  return `With ${ours.bots} bots the worker has ${worker} MB and its sandbox process ${sandbox} MB (SANDBOX_MEMORY=${sandboxShare})`
}

function valuesOf(figures: SideFigures[], of: Measure['of']): string {
  const values = figures.flatMap((round) => of(round) ?? [])
  return values.length === 0 ? '' : spread(values)
}

function ratio(rounds: SandboxComparison['rounds'], other: SideName, of: Measure['of']): string {
  const ratios = rounds.ours.flatMap((figures, index) => {
    const besides = rounds[other][index]
    const [one, beside] = [of(figures), besides && of(besides)]
    return one === undefined || beside === undefined ? [] : one / beside
  })
  return ratios.length === 0 ? '' : round(median(ratios))
}

function ratioOf(one: number | undefined, beside: number | undefined): string {
  return one === undefined || beside === undefined ? '' : round(one / beside)
}
