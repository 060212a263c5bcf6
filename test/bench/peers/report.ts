import type { Round } from '../compare.ts'
import { spread, table } from '../report.ts'
import { partNames, type Result } from '../side.ts'
import { median } from '../statistics.ts'
import { peerNames, type PeerComparison, type PeerName } from './compare.ts'

/** The properties of each side. */
const properties: Record<PeerName, [order: string, once: string, isolation: string, history: string, replies: string]> =
  {
    'ours, Redis': ['yes', 'yes', 'process and isolate', 'SQL', 'on a stream, resumable'],
    'ours, PostgreSQL': ['yes', 'yes', 'process and isolate', 'SQL', 'on a stream, resumable'],
    Restate: ['yes', 'yes', 'none', 'the last message, in its own store', 'in the response'],
    DBOS: ['yes', 'yes', 'none', 'arguments and steps, in SQL', 'in the response'],
    'floor, Redis': ['no', 'no', 'isolate', 'SQL', 'on a stream'],
    'floor, PostgreSQL': ['no', 'no', 'isolate', 'SQL', 'on a stream'],
  }

interface Measure {
  name: string
  of: (round: Round) => number
}

const measures: Measure[] = [
  { name: 'messages/s', of: ({ saturated }) => saturated.rate },
  { name: 'p50 ms', of: ({ saturated }) => saturated.p50 },
  { name: 'p99 ms', of: ({ saturated }) => saturated.p99 },
  { name: 'processor ms', of: ({ saturated }) => processorTime(saturated) },
  { name: 'lone p50 ms', of: ({ quiet }) => quiet.p50 },
  { name: 'lone p99 ms', of: ({ quiet }) => quiet.p99 },
]

/** Makes the Markdown tables of the figures and of the properties of durable engines. */
export function peerTables(comparison: PeerComparison): string[] {
  const head = ['durable engines', ...measures.map(({ name }) => name)]
  const figures = peerNames.map((name) => [name, ...measures.map(({ of }) => spread(comparison[name].map(of)))])
  const ratios = (['ours, Redis', 'ours, PostgreSQL'] as const).flatMap((ours) =>
    peerNames
      .filter((name) => !name.startsWith('ours'))
      .map((name) => [
        `${ours} / ${name}`,
        ...measures.map(({ of }) =>
          median(comparison[ours].map((round, index) => of(round) / of(comparison[name][index]!))).toFixed(2),
        ),
      ]),
  )
  return [
    table(head, [...figures, ...ratios]),
    table(
      ['durable engines', 'order in a conversation', 'once', 'isolation of user code', 'history', 'replies'],
      peerNames.map((name) => [name, ...properties[name]]),
    ),
  ]
}

/** Processor time per message of all processes but the chat users', in milliseconds; NaN where it is unknown. */
function processorTime({ processorTime: times }: Result): number {
  if (!times) return NaN
  return partNames.filter((part) => part !== 'chat users').reduce((sum, part) => sum + times[part], 0)
}
