import { round, table } from '../report.ts'
import { floodMessages, quietBots, talkSeconds, type FairnessComparison, type Latencies } from './compare.ts'

/** One line on the load. */
export function describeFairness(): string {
  return (
    `${quietBots} quiet bots with one message a second each, for ${talkSeconds} s alone, while ${floodMessages} ` +
    `messages are sent to another bot in ${talkSeconds} s or longer, and for ${talkSeconds} s after that`
  )
}

/** Makes the Markdown table of the flood's effect on quiet bots. */
export function fairnessTable(comparisons: FairnessComparison[]): string {
  const measures = [
    { name: 'p50 ms', of: ({ p50 }: Latencies) => p50 },
    { name: 'p99 ms', of: ({ p99 }: Latencies) => p99 },
  ]
  return table(
    [
      'back end',
      'hooks of the flood',
      'reply to a quiet bot',
      'alone',
      'flood arrives',
      'ratio',
      'flood waits',
      'ratio',
      'left',
    ],
    comparisons.flatMap(({ backEnd, flood, quiet, arriving, waiting, left }) =>
      measures.map(({ name, of }) => {
        const beside = [arriving, waiting].flatMap((there) => [round(of(there)), (of(there) / of(quiet)).toFixed(2)])
        return [backEnd, flood, name, round(of(quiet)), ...beside, String(left)]
      }),
    ),
  )
}
