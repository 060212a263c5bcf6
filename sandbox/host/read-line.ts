import type { LogLine } from '../protocol/contract.ts'

const levels: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies LogLine['level'][]
const timestampForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** Above the limit of a kernel's lines. */
const lineCharacters = 32_768

/**
 * Reads a log line from a process. An invalid time would fail the statement that writes the lines of many bots.
 *
 * @returns undefined when the line is too long
 */
export function readLine({ timestamp, level, message }: Record<keyof LogLine, string>): LogLine | undefined {
  if (message.length > lineCharacters) return undefined
  const isTime = timestampForm.test(timestamp) && !Number.isNaN(Date.parse(timestamp))
  return {
    timestamp: isTime ? timestamp : new Date().toISOString(),
    level: levels.includes(level) ? (level as LogLine['level']) : 'info',
    message,
  }
}
