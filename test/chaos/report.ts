import { megabyte } from '#shared/units.ts'
import type { ChaosReport } from './run.ts'

/** Whether the result equals that of a run without faults. */
export function isClean({ differences, waiting, surprises, data }: ChaosReport): boolean {
  const { examples: _examples, ...counts } = differences
  const { examples: _dataExamples, ...dataCounts } = data?.differences ?? { examples: [] }
  const all = [...Object.values(counts), ...Object.values(dataCounts)]
  return waiting === 0 && surprises.length === 0 && all.every((count) => count === 0)
}

/** Describes the counts of a run, in lines. */
export function describeReport(report: ChaosReport): string {
  const { options, counts, faults, seconds, waiting, surprises, differences } = report
  const total = [...faults.values()].reduce((sum, count) => sum + count, 0)
  const kinds = [...faults].map(([kind, count]) => `${kind} ${count}`)
  return [
    `Chaos on ${options.backEnd}, seed ${options.seed}: ${isClean(report) ? 'no difference' : 'DIFFERENCES'}`,
    `  ${counts.acknowledged} messages acknowledged in ${options.conversations} conversations, ${options.apis} api ` +
      `processes, ${options.workers} workers`,
    `  ${describeRefusals(counts.refusals)}, ${counts.replayed} answered from the first request`,
    `  ${total} faults in ${seconds.faults.toFixed(0)} s: ${kinds.join(', ')}`,
    `  nothing waited any more ${seconds.drain.toFixed(1)} s after the last was mended; still waiting ${waiting}`,
    `  lost ${differences.lost}, duplicates ${differences.duplicates}, out of order ${differences.outOfOrder}, ` +
      `other answers ${differences.otherAnswers}, other states ${differences.otherStates}, ` +
      `other log lines ${differences.otherLogs}, not processed ${differences.unprocessed}`,
    ...(report.data ? describeData(report.data) : []),
    `  processes that ended otherwise than asked: ${surprises.length}`,
    ...surprises.map((surprise) => `    ${surprise}`),
    ...differences.examples.map((example) => `    ${example}`),
  ].join('\n')
}

function describeRefusals(refusals: Map<number, number>): string {
  const retries = [...refusals.values()].reduce((sum, count) => sum + count, 0)
  const statuses = [...refusals].map(([status, count]) => `${status || 'no answer'} ${count}`)
  return `${retries} retries (${statuses.join(', ') || 'none'})`
}

function describeData({ counts, found, sweptObjects, differences }: NonNullable<ChaosReport['data']>): string[] {
  const failed = [...found.failedIndexes].map(([reason, count]) => `${count} (${reason})`)
  return [
    `  over HTTP, ${counts.uploads} contents of ${Math.round(counts.uploadedBytes / megabyte)} MB and ${counts.writes} ` +
      `writes of rows acknowledged; ${describeRefusals(counts.refusals)}, ${counts.found} contents were there already`,
    `  ${found.files} files of ${Math.round(found.bytes / megabyte)} MB at the end, ${found.indexed} of them indexed and ` +
      `${failed.length === 0 ? 'none' : failed.join(', ')} failed with a reason; ${found.rows} rows; ${sweptObjects} objects swept`,
    `  other files ${differences.otherFiles}, other indexes ${differences.otherIndexes}, other rows ` +
      `${differences.otherRows}, orphans ${differences.orphans}, other counters ${differences.otherCounters}`,
    ...differences.examples.map((example) => `    ${example}`),
  ]
}
