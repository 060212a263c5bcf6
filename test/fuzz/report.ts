import type { Fault, FuzzReport } from './run.ts'

/** Whether the run has found no fault. */
export function isClean({ faults, flows, foreignRows, breakdowns }: FuzzReport): boolean {
  return faults.length + flows.faults.length === 0 && foreignRows.length === 0 && breakdowns.length === 0
}

const maxShown = 20
const maxCharacters = 3000

/** Describes the counts of a run, in lines, and each fault with its request. */
export function describeReport(report: FuzzReport): string {
  const { options, sent, faults, flows, foreignRows, breakdowns } = report
  const ended = [...flows.events].map(([status, times]) => `${times} ${status}`)
  const total = sent.matrix + sent.mcp + sent.raw + sent.random
  const count = (matches: (what: string) => boolean) => faults.filter(({ what }) => matches(what)).length
  const statuses = [...report.statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, times]) => `${status || 'none'} ${times}`)
  return [
    `Fuzz on ${options.backEnd}, seed ${options.seed}: ${isClean(report) ? 'nothing found' : 'FAULTS'}`,
    `  ${total} requests to ${report.operations} operations in ${report.seconds.toFixed(0)} s: ${sent.matrix} of the tenant ` +
      `matrix, ${sent.mcp} to the MCP server, ${sent.raw} raw, ${sent.random} random`,
    `  operations of which a random request succeeded: ${report.succeeded.size}`,
    `  answers by status: ${statuses.join(', ')}`,
    `  answers of 500 and above but deliberate 503: ${count((what) => what.startsWith('answered with'))}`,
    `  hangs: ${count((what) => what === 'hangs')}`,
    `  foreign rows read: ${count((what) => what.startsWith('foreign'))}, changed: ${foreignRows.length}`,
    `  errors without the body of one: ${count((what) => what.startsWith('an error'))}, no answer: ${count((what) => what.startsWith('no answer'))}`,
    `  flows: ${flows.accepted} accepted, ${flows.refused} refused, faults ${flows.faults.length}; their events: ${ended.join(', ') || 'none'}`,
    ...flows.faults.slice(0, maxShown).map((fault) => `    ${fault}`.slice(0, maxCharacters)),
    `  breakdowns: ${breakdowns.length}`,
    ...breakdowns.map((breakdown) => `    ${breakdown}`),
    ...foreignRows.slice(0, maxShown).map((row) => `    ${row.slice(0, maxCharacters)}`),
    ...faults.slice(0, maxShown).map((fault) => describeFault(fault, options.seed)),
    ...(faults.length > maxShown ? [`  and ${faults.length - maxShown} more`] : []),
  ].join('\n')
}

function describeFault({ number, what, request, answer }: Fault, seed: number): string {
  const sent =
    typeof request === 'string'
      ? JSON.stringify(request)
      : JSON.stringify({ ...request, forbidden: undefined, operation: undefined })
  return [
    `  ${what}, request ${number}: npm run fuzz -- --seed ${seed} --only ${number}`,
    `    sent: ${sent.slice(0, maxCharacters)}`,
    `    answered: ${answer}`,
  ].join('\n')
}
