import type { ChaosReport } from './run.ts'

/** Whether the result equals that of a run without faults. */
export function isClean({ differences, waiting, surprises }: ChaosReport): boolean {
  const { examples: _examples, ...counts } = differences
  return waiting === 0 && surprises.length === 0 && Object.values(counts).every((count) => count === 0)
}

/** Describes the counts of a run, in lines. */
export function describeReport(report: ChaosReport): string {
  const { options, counts, faults, seconds, waiting, surprises, differences } = report
  const total = [...faults.values()].reduce((sum, count) => sum + count, 0)
  const retries = [...counts.refusals.values()].reduce((sum, count) => sum + count, 0)
  const kinds = [...faults].map(([kind, count]) => `${kind} ${count}`)
  const refusals = [...counts.refusals].map(([status, count]) => `${status || 'no answer'} ${count}`)
  return [
    `Chaos on ${options.backEnd}, seed ${options.seed}: ${isClean(report) ? 'no difference' : 'DIFFERENCES'}`,
    `  ${counts.acknowledged} messages acknowledged in ${options.conversations} conversations, ${options.apis} api ` +
      `processes, ${options.workers} workers`,
    `  ${retries} retries (${refusals.join(', ') || 'none'}), ${counts.replayed} answered from the first request`,
    `  ${total} faults in ${seconds.faults.toFixed(0)} s: ${kinds.join(', ')}`,
    `  nothing waited any more ${seconds.drain.toFixed(1)} s after the last was mended; still waiting ${waiting}`,
    `  lost ${differences.lost}, duplicates ${differences.duplicates}, out of order ${differences.outOfOrder}, ` +
      `other answers ${differences.otherAnswers}, other states ${differences.otherStates}, ` +
      `other log lines ${differences.otherLogs}, not processed ${differences.unprocessed}`,
    `  processes that ended otherwise than asked: ${surprises.length}`,
    ...surprises.map((surprise) => `    ${surprise}`),
    ...differences.examples.map((example) => `    ${example}`),
  ].join('\n')
}
