import type { LogLine } from '../protocol/contract.ts'
import { hasOwn, isObject, parse } from './primordials.ts'

/**
 * Parses a JSON line of the SDK's logger: `{ msg, level? }`, or `{ type: 'issue', title, description }`.
 *
 * @returns undefined for any other value
 */
export function readJsonLine(values: ArrayLike<unknown>): { level?: LogLine['level']; message: string } | undefined {
  const text = values[0]
  if (values.length !== 1 || typeof text !== 'string' || text[0] !== '{') return undefined
  const line = parseLine(text)
  if (!isObject(line)) return undefined
  const message = textIn(line, 'msg') ?? issueIn(line)
  if (message === undefined) return undefined
  const level = textIn(line, 'level')
  return isLevel(level) ? { level, message } : { message }
}

function parseLine(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

function issueIn(line: Record<string, unknown>): string | undefined {
  const title = textIn(line, 'title')
  if (textIn(line, 'type') !== 'issue' || title === undefined) return undefined
  const description = textIn(line, 'description')
  return description === undefined ? title : `${title}: ${description}`
}

function textIn(line: Record<string, unknown>, field: string): string | undefined {
  const value = hasOwn(line, field) ? line[field] : undefined
  return typeof value === 'string' ? value : undefined
}

function isLevel(level: string | undefined): level is LogLine['level'] {
  return level === 'debug' || level === 'info' || level === 'warn' || level === 'error'
}
