import type { Knex } from 'knex'
import { openedTracing, traced } from '../telemetry/tracing.ts'

const summaries = new Map<string, string>()
/** Built statements may have many forms; those of the message path are few. */
const maxSummaries = 1000
const summaryCharacters = 80

/** Runs a statement in a span of its own, when tracing is enabled. */
export function tracedStatement<Result>(sql: string, run: () => Promise<Result>): Promise<Result> {
  if (!openedTracing()) return run()
  return traced(summaryOf(sql), { 'db.system.name': 'postgresql', 'db.query.text': sql }, run, 'client')
}

/** Traces the statements that knex builds. */
export function traceBuilt(db: Knex): void {
  const tracing = openedTracing()
  if (!tracing) return
  const ends = new Map<string, (error?: unknown) => void>()
  db.on('query', ({ __knexQueryUid: id, sql }: BuiltStatement) => {
    const over = Promise.withResolvers<void>()
    ends.set(id, (error) => (error === undefined ? over.resolve() : over.reject(error)))
    tracedStatement(sql, () => over.promise).catch(() => {})
  })
  const end = ({ __knexQueryUid: id }: BuiltStatement, error?: unknown) => {
    ends.get(id)?.(error)
    ends.delete(id)
  }
  db.on('query-response', (_response: unknown, statement: BuiltStatement) => end(statement))
  db.on('query-error', (error: unknown, statement: BuiltStatement) => end(statement, error))
}

/** A statement as knex reports it, without values in the text. */
interface BuiltStatement {
  __knexQueryUid: string
  sql: string
}

/** A short summary of a statement: `insert events, insert messages, update conversations`. */
function summaryOf(sql: string): string {
  const known = summaries.get(sql)
  if (known !== undefined) return known
  const written = Array.from(sql.matchAll(/\b(insert into|update|delete from)\s+"?(\w+)/gi), ([, verb = '', table]) => {
    return `${verb.split(' ')[0]!.toLowerCase()} ${table}`
  }).filter((words) => words !== 'update set')
  const read = /\bfrom\s+"?(\w+)/i.exec(sql)?.[1]
  const words = written.length > 0 ? written : [read === undefined ? sql.trim().split(/\s/)[0]! : `select ${read}`]
  const summary = [...new Set(words)].join(', ').slice(0, summaryCharacters)
  if (summaries.size < maxSummaries) summaries.set(sql, summary)
  return summary
}
