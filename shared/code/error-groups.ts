import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
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
  return varying
    .reduce((text, [pattern, sign]) => text.replaceAll(pattern, sign), beginOf(reason))
    .slice(0, messageCharacters)
}

/** The part of a reason that is compared: whole words of its first line. */
function beginOf(reason: string): string {
  const [line = ''] = reason.slice(0, messageCharacters + 1).split('\n')
  if (line.length <= messageCharacters) return line
  // A part of an id would not be known as one.
  const end = line.lastIndexOf(' ')
  return line.slice(0, end > 0 ? end : messageCharacters)
}

/** Failures with the same cause, the last one first. */
export interface SameFailures<Row extends FailureRow> {
  id: string
  message: string
  rows: Row[]
}

/** Number of rows after which other work of the process has its turn. */
const rowsPerTurn = 50

/**
 * Groups failures by their hook and the common text of their reasons, in the order of the first row of each.
 *
 * @param rows the last failed first
 */
export async function groupFailures<Row extends FailureRow>(rows: Row[]): Promise<SameFailures<Row>[]> {
  const causes = new Map<string, string>()
  const groups = new Map<string, SameFailures<Row>>()
  for (const [index, row] of rows.entries()) {
    if (index % rowsPerTurn === rowsPerTurn - 1) await setImmediate()
    const begin = beginOf(reasonOf(row))
    const message = causes.get(begin) ?? commonWords(begin)
    causes.set(begin, message)
    const key = JSON.stringify([row.hook, message])
    const group = groups.get(key)
    if (group) group.rows.push(row)
    else groups.set(key, { id: toId(key), message, rows: [row] })
  }
  return Array.from(groups.values())
}

/**
 * Groups failures by the common text of their reasons, the most frequent first.
 *
 * @param rows the last failed first
 * @param oldest the earliest time of failure of an event that can be replayed
 */
export async function groupErrors(rows: FailureRow[], oldest: Date): Promise<ErrorGroup[]> {
  const groups = (await groupFailures(rows)).map((same) => describeFailures(same, oldest))
  return groups.toSorted((a, b) => b.count - a.count || b.lastAt.getTime() - a.lastAt.getTime())
}

/** @param oldest the earliest time of failure of an event that can be replayed */
export function describeFailures({ id, message, rows }: SameFailures<FailureRow>, oldest: Date): ErrorGroup {
  const group = newGroup(id, message, rows[0]!)
  for (const row of rows) {
    group.count += 1
    group.firstAt = row.ended_at
    if (group.eventIds.length < maxExamples) group.eventIds.push(row.id)
    addOnce(group.types, row.type)
    if (row.version_id !== null) addOnce(group.versionIds, row.version_id)
    if (!unreplayable.includes(row.type) && row.ended_at > oldest) group.replayable += 1
  }
  return group
}

function reasonOf({ failure_reason }: FailureRow): string {
  return failure_reason ?? 'No reason given'
}

function toId(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16)
}

function newGroup(id: string, message: string, row: FailureRow): ErrorGroup {
  return {
    id,
    message,
    example: reasonOf(row).slice(0, messageCharacters),
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
