import type { Options } from '../options.ts'
import { round, table } from '../report.ts'
import { listenersPerConversation } from '../system.ts'
import type { Held, ListenersComparison } from './compare.ts'
import { megabyte } from '#shared/units.ts'

interface Measure {
  name: string
  /** Undefined on systems that do not report it. */
  of: (held: Held) => number | undefined
}

const kilobyte = 1024
const measures: Measure[] = [
  { name: 'KB for each stream', of: ({ memory }) => memory && memory.perStream / kilobyte },
  { name: 'MB with all open, quiet', of: ({ memory }) => memory && memory.all / megabyte },
  { name: 'MB at most', of: ({ memory }) => memory && memory.most / megabyte },
  { name: 'streams opened/s', of: ({ streamsPerSecond }) => streamsPerSecond },
  { name: 'processor ms per opening', of: ({ processorTime }) => processorTime?.perStream },
  { name: 'p50 ms, stored to last heard', of: ({ p50 }) => p50 },
  { name: 'p99 ms, stored to last heard', of: ({ p99 }) => p99 },
  { name: 'p50 ms, first to last heard', of: ({ spread }) => spread },
  { name: 'processor ms per message', of: ({ processorTime }) => processorTime?.perMessage },
]

/** One line on the load of the listeners' benchmark. */
export function describeListeners({ listeners, messages }: Options): string {
  return (
    `${listeners} listeners, ${listenersPerConversation} in each of ${listeners / listenersPerConversation} ` +
    `conversations; ${messages} messages, one at a time`
  )
}

/** Makes the Markdown table that compares both sides' streams. */
export function listenersTable(comparisons: ListenersComparison[]): string {
  const rows = comparisons.flatMap(({ backEnd, protocol, ours, floor }) =>
    measures.flatMap(({ name, of }) => {
      const [our, least] = [of(ours), of(floor)]
      if (our === undefined || least === undefined) return []
      return [[backEnd, protocol, name, round(our), round(least), (our / least).toFixed(2)]]
    }),
  )
  return table(['back end', 'streams', 'measure', 'ours', 'floor', 'ours / floor'], rows)
}
