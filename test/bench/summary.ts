import type { BundleComparison } from './bundles/compare.ts'
import type { Comparison, Round } from './compare.ts'
import type { ListenersComparison } from './listeners/compare.ts'
import { round, table } from './report.ts'
import type { SandboxComparison, SideFigures } from './sandbox/compare.ts'
import { median } from './statistics.ts'

/** The results; those of omitted benchmarks are absent. */
export interface Results {
  straightLine?: Comparison[]
  listeners?: ListenersComparison[]
  bundles?: BundleComparison[]
  sandbox?: SandboxComparison
}

type Row = [name: string, ours: string, floor: string, ratio: string, aim: string]

/** Makes the Markdown table of the key figures, one line each, with their targets relative to the floor. */
export function summaryTable({ straightLine = [], listeners = [], bundles = [], sandbox }: Results): string {
  const rows: Row[] = [
    ...straightLine.flatMap(ofStraightLine),
    ...bundles.flatMap(ofBundles),
    ...(sandbox ? ofSandbox(sandbox) : []),
    ...listeners.flatMap(ofListeners),
  ]
  return rows.length === 0 ? '' : table(['all in one', 'ours', 'floor', 'ours / floor', 'aim'], rows)
}

const minRate = { redis: '≥ 0.70', postgres: '≥ 0.50' }

function ofStraightLine({ backEnd, ours, floor }: Comparison): Row[] {
  const row = (name: string, of: (round: Round) => number, aim = ''): Row => [
    `${backEnd}: ${name}`,
    ...beside(ours.map(of), floor.map(of)),
    aim,
  ]
  return [
    row('messages/s', ({ saturated }) => saturated.rate, minRate[backEnd]),
    row('p50 ms of a reply, at that rate', ({ saturated }) => saturated.p50, backEnd === 'redis' ? '≤ 1.50' : ''),
    row('p99 ms of a reply, at that rate', ({ saturated }) => saturated.p99),
    row('p50 ms of a lone reply', ({ quiet }) => quiet.p50, backEnd === 'redis' ? '≤ 1.50' : ''),
    row('p99 ms of a lone reply', ({ quiet }) => quiet.p99),
  ]
}

function ofBundles({ name, ours, floor }: BundleComparison): Row[] {
  return [
    [
      `${name} bot: ms, cold start`,
      ...beside(
        ours.map(({ cold }) => cold),
        floor.map(({ cold }) => cold),
      ),
      '',
    ],
    [
      `${name} bot: ms, warm start`,
      ...beside(
        ours.map(({ warm }) => warm),
        floor.map(({ warm }) => warm),
      ),
      '',
    ],
  ]
}

/** Compared with bare isolates, which have neither further isolation layers nor a worker. */
function ofSandbox({ rounds: { ours, bare }, capacities }: SandboxComparison): Row[] {
  const row = (name: string, of: (figures: SideFigures) => number | undefined): Row[] => {
    const [our, least] = [ours.flatMap((figures) => of(figures) ?? []), bare.flatMap((figures) => of(figures) ?? [])]
    return our.length === 0 || our.length !== least.length ? [] : [[`isolate: ${name}`, ...beside(our, least), '']]
  }
  const [our, least] = [capacities.ours?.bots, capacities.bare?.bots]
  return [
    ...row('ms, cold start', ({ cold }) => cold.plain),
    ...row('ms, warm start', ({ warm }) => warm),
    ...(our && least ? [['isolates in 512 MB', ...beside([our], [least]), ''] satisfies Row] : []),
  ]
}

function ofListeners({ backEnd, protocol, ours, floor }: ListenersComparison): Row[] {
  const where = `${backEnd}, ${protocol}`
  const memory = [ours.memory, floor.memory].flatMap((held) => (held ? [held.perStream / 1024] : []))
  return [
    ...(memory.length === 2
      ? [[`${where}: KB of a listener`, ...beside([memory[0]!], [memory[1]!]), ''] satisfies Row]
      : []),
    [`${where}: p50 ms, stored to last heard`, ...beside([ours.p50], [floor.p50]), ''],
  ]
}

/** Both medians, and the median of the ratios of adjacent measurements. */
function beside(ours: number[], floor: number[]): [ours: string, floor: string, ratio: string] {
  const ratios = ours.map((value, index) => value / floor[index]!)
  return [round(median(ours)), round(median(floor)), median(ratios).toFixed(2)]
}
