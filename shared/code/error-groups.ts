import { createHash } from 'node:crypto'
import { unreplayable } from '../models/failed-event.ts'
import type { FailureRow } from '../store/error-groups.ts'

/** Failures that say the same but for ids, numbers and the like. */
export interface ErrorGroup {
  id: string
  /** What they have in common. */
  message: string
  /** What the last one said. */
  example: string
  /** The longest part that all of them have: what finds them among failed events. */
  words: string
  hook: string | null
  count: number
  firstAt: Date
  lastAt: Date
  /** The last ones. */
  eventIds: string[]
  /** Of the bot, those that failed last first. */
  versionIds: string[]
  types: string[]
  /** How many can be handled anew. */
  replayable: number
}

const maxExamples = 5
const messageCharacters = 300

/**
 * What differs from one failure to the next although the fault is the same, the more telling first: each is replaced by
 * one sign. None of them can take long on a long text.
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

/** What a failure says without what differs each time. */
export function commonWords(reason: string): string {
  const [line = ''] = reason.slice(0, 1000).split('\n')
  return varying.reduce((text, [pattern, sign]) => text.replaceAll(pattern, sign), line).slice(0, messageCharacters)
}

/**
 * Groups failures by what they have in common, those that came most often first.
 *
 * @param rows the last failed first
 * @param oldest when an event must have failed to be replayed
 */
export function groupErrors(rows: FailureRow[], oldest: Date): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>()
  for (const row of rows) {
    const reason = row.failure_reason ?? 'No reason given'
    const message = commonWords(reason)
    const key = JSON.stringify([row.hook, message])
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

function newGroup(key: string, message: string, example: string, row: FailureRow): ErrorGroup {
  return {
    id: createHash('sha256').update(key).digest('hex').slice(0, 16),
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
