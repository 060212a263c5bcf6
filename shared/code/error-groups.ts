import { createHash } from 'node:crypto'
import { unreplayable } from '../models/failed-event.ts'
import type { FailureRow } from '../store/error-groups.ts'

/** Failures whose reasons differ only in ids, numbers and the like. */
export interface ErrorGroup {
  id: string
  /** The common text of their reasons. */
  message: string
  /** The reason of the last failure. */
  example: string
  /** The longest text that all of them contain, by which failed events are searched. */
  words: string
  hook: string | null
  count: number
  firstAt: Date
  lastAt: Date
  /** The events of the last failures. */
  eventIds: string[]
  /** Bot versions, the one that failed last first. */
  versionIds: string[]
  types: string[]
  /** Number of events that can be replayed. */
  replayable: number
}

const maxExamples = 5
const messageCharacters = 300

/**
 * Parts that differ between failures of the same fault, the most specific first; one sign replaces each. No pattern is
 * slow on a long text.
 */
const varying: [pattern: RegExp, sign: string][] = [
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '#'],
  [/\b[a-z]{2,12}_[0-9A-HJKMNP-TV-Z]{26}\b/g, '#'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]{5,15}(?:Z|[+-]\d\d:?\d\d)?/g, '#'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8,64}\b/gi, '#'],
  [/[^\s@"'<>]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g, '#'],
  [/(https?:\/\/[\w.:-]{1,253})\/[^\s"'<>)]*/g, '$1/#'],
  [/\d+(?:[.,]\d+)*/g, '#'],
]

/** The reason of a failure without its varying parts. */
export function commonWords(reason: string): string {
  const [line = ''] = reason.slice(0, 1000).split('\n')
  return varying.reduce((text, [pattern, sign]) => text.replaceAll(pattern, sign), line).slice(0, messageCharacters)
}

/**
 * Groups failures by the common text of their reasons, the most frequent first.
 *
 * @param rows the last failed first
 * @param oldest the earliest time of failure of an event that can be replayed
 */
export function groupErrors(rows: FailureRow[], oldest: Date): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>()
  for (const row of rows) {
    const { reason, message, key } = causeOf(row)
    const group = groups.get(key) ?? newGroup(key, message, reason, row)
    groups.set(key, group)
    group.count += 1
    group.firstAt = row.ended_at
    if (group.eventIds.length < maxExamples) group.eventIds.push(row.id)
    addOnce(group.types, row.type)
    if (row.version_id !== null) addOnce(group.versionIds, row.version_id)
    if (!unreplayable.includes(row.type) && row.ended_at > oldest) group.replayable += 1
  }
  return Array.from(groups.values()).toSorted((a, b) => b.count - a.count || b.lastAt.getTime() - a.lastAt.getTime())
}

/** The id of the group that a failure belongs to. */
export function groupIdOf(row: FailureRow): string {
  return toId(causeOf(row).key)
}

function causeOf({ failure_reason, hook }: FailureRow) {
  const reason = failure_reason ?? 'No reason given'
  const message = commonWords(reason)
  return { reason, message, key: JSON.stringify([hook, message]) }
}

function toId(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16)
}

function newGroup(key: string, message: string, example: string, row: FailureRow): ErrorGroup {
  return {
    id: toId(key),
    message,
    example: example.slice(0, messageCharacters),
    words: longestOf(message.split('#')).trim(),
    hook: row.hook,
    count: 0,
    firstAt: row.ended_at,
    lastAt: row.ended_at,
    eventIds: [],
    versionIds: [],
    types: [],
    replayable: 0,
  }
}

function longestOf(texts: string[]): string {
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '')
}

function addOnce(values: string[], value: string): void {
  if (values.length < maxExamples && !values.includes(value)) values.push(value)
}
