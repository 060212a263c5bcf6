import { setTimeout as delay } from 'node:timers/promises'
import type { Infer } from '#shared/schema.ts'
import { logLevels, type logLine } from '#shared/models/log-line.ts'
import type { Connection } from '../connection.ts'
import { Failure } from '../failure.ts'
import { withoutControlCharacters, styled } from '../output.ts'

export type LogLine = Infer<typeof logLine>
type LogLevel = LogLine['level']

/** Selects lines of a bot's log. */
export interface LogFilter {
  /** The minimum level: `warn` selects warnings and errors. */
  level?: LogLevel | undefined
  conversationId?: string | undefined
  eventId?: string | undefined
  messageContains?: string | undefined
}

export interface FollowOptions {
  /** Ends the iteration. */
  signal: AbortSignal
  /** The number of existing lines that come first. */
  last?: number
  /** Instead of `last`: all existing lines since this time come first. */
  since?: Date | undefined
  /** Called with a failure when the platform becomes unavailable, and without one when it returns. No line is lost. */
  connected?: (failure?: Failure) => void
  /** Called when lines were skipped because more were logged than one answer holds. */
  cut?: () => void
}

const askMilliseconds = 400
const maxLines = 100

/** Yields the lines of a bot's log as they arrive, oldest first, across platform restarts, until the signal aborts. */
export async function* followLogs(
  connection: Connection,
  botId: string,
  filter: LogFilter,
  { signal, last = 0, since, connected, cut }: FollowOptions,
): AsyncGenerator<LogLine> {
  const path = `/v1/admin/bots/${botId}/logs/new`
  const pageSize = since ? 1 : Math.max(1, last)
  const first = await connection.ask<'followBotLogs'>('GET', path, { query: { ...filter, pageSize } })
  /** Ids of existing lines already yielded, which the live log may repeat. */
  const shown = new Set<string>()
  if (since) {
    for await (const line of logsSince(connection, botId, filter, since)) {
      shown.add(line.id)
      yield line
    }
  } else if (last > 0) yield* first.logs
  let { next } = first
  let isDisconnected = false
  while (!signal.aborted) {
    try {
      const query = { ...filter, after: next, pageSize: maxLines }
      const answer = await connection.ask<'followBotLogs'>('GET', path, { query, signal })
      if (isDisconnected) connected?.()
      isDisconnected = false
      if (answer.isCut) cut?.()
      yield* answer.logs.filter((line) => !shown.delete(line.id))
      next = answer.next
      if (answer.logs.length > 0) continue
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof Failure) || !isPassing(error)) throw error
      if (!isDisconnected) connected?.(error)
      isDisconnected = true
    }
    await delay(askMilliseconds, undefined, { signal }).catch(() => {})
  }
}

/** The last existing lines of a bot's log, oldest first. */
export async function readLogs(
  connection: Connection,
  botId: string,
  { level, ...filter }: LogFilter,
  { since = new Date(0), limit }: { since?: Date | undefined; limit: number },
): Promise<LogLine[]> {
  const query = { ...filter, ...exactly(level), timeStart: since.toISOString() }
  const lines: LogLine[] = []
  for await (const line of connection.list<LogLine>(`/v1/admin/bots/${botId}/logs`, 'logs', { query })) {
    if (isAtLeast(line, level)) lines.push(line)
    if (lines.length >= limit) break
  }
  return lines.toReversed()
}

async function* logsSince(
  { list }: Connection,
  botId: string,
  { level, ...filter }: LogFilter,
  since: Date,
): AsyncGenerator<LogLine> {
  const query = { ...filter, ...exactly(level), timeStart: since.toISOString(), sortDirection: 'asc' }
  for await (const line of list<LogLine>(`/v1/admin/bots/${botId}/logs`, 'logs', { query })) {
    if (isAtLeast(line, level)) yield line
  }
}

/** A log line for people: time, level and message; for warnings and errors also the event's id. */
export function formatLine({ timestamp, level, message, eventId }: LogLine): string {
  const time = new Date(timestamp)
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0'))
  const milliseconds = String(time.getMilliseconds()).padStart(3, '0')
  const grave = level === 'error' ? styled('red', 'ERROR') : level === 'warn' ? styled('yellow', 'WARN ') : undefined
  const label = grave ?? styled(level === 'debug' ? 'dim' : 'green', level.toUpperCase().padEnd(5))
  const event = grave && eventId !== undefined ? styled('dim', `  (${eventId})`) : ''
  const [first, ...others] = withoutControlCharacters(message).split('\n')
  const head = `${styled('dim', `${clock.join(':')}.${milliseconds}`)} ${label} ${first}${event}`
  return [head, ...others.map((line) => `                   ${line}`)].join('\n')
}

/** The API filters by exactly one level, so a lower minimum level is filtered here. */
function exactly(level: LogLevel | undefined): { level?: LogLevel } {
  return level === 'error' ? { level } : {}
}

function isAtLeast(line: LogLine, level: LogLevel = 'debug'): boolean {
  return logLevels.indexOf(line.level) >= logLevels.indexOf(level)
}

/** Whether a retry can succeed: an unavailable platform returns, a refused token stays refused. */
function isPassing({ type, details }: Failure): boolean {
  return type === 'Unreachable' || details?.status === 503 || details?.status === 429
}
