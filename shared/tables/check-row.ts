import { isObject } from '../code/json-schema/is-object.ts'
import { UntrustedSchema } from '../code/untrusted-schema.ts'
import type { Column, Columns } from '../models/column.ts'
import { exponentDigits } from '../json/exponents.ts'
import { rowKilobytes, systemColumns } from '../models/table.ts'
import { storableText } from '../models/storable.ts'
import { isTime } from './definition.ts'
import { toTime } from './time.ts'

/** The data of a row by field, with its JSON; or the reason why it cannot be stored. */
export type CheckedRow = { data: Record<string, unknown>; text: string } | { problem: string }

/** A table as far as its rows depend on it. */
export interface RowRules {
  columns: Columns
  required: readonly string[]
  factor: number
}

/** Keywords that are checked here, and those that say nothing about values. */
const checkedHere = new Set(['type', 'nullable', 'x-zui', 'field', 'description', 'title', 'default', '$schema'])

const maxUnknownColumns = 20

/**
 * Checks the rows of one call. Types are checked here, and what else the columns' schemas say by the interpreter of
 * untrusted schemas, whose work is bounded for each row.
 */
export class RowChecker {
  /** The columns that rows name and that the table lacks. */
  readonly unknown = new Set<string>()
  readonly #columns: Map<string, Column>
  readonly #required: readonly string[]
  readonly #maxBytes: number
  readonly #schema: UntrustedSchema
  readonly #detailed: Set<string>

  constructor({ columns, required, factor }: RowRules) {
    this.#columns = new Map(Object.entries(columns))
    this.#required = required
    this.#maxBytes = factor * rowKilobytes * 1024
    const schemas = [...this.#columns].flatMap(([name, column]) => {
      const { format: _format, ...others } = column
      const keywords = Object.entries(isTime(column) ? others : column).filter(([keyword]) => !checkedHere.has(keyword))
      return keywords.length === 0 ? [] : [[name, Object.fromEntries(keywords)] as const]
    })
    this.#detailed = new Set(schemas.map(([name]) => name))
    this.#schema = new UntrustedSchema({ properties: Object.fromEntries(schemas) }, 'schema')
  }

  /**
   * Checks a row, or a change of one.
   *
   * @param path of the row in the call, with which a problem begins
   * @param given by column
   * @param present the data of the row to change, by field
   */
  check(path: string, given: Record<string, unknown>, present: Record<string, unknown> = {}): CheckedRow {
    const values = new Map<string, unknown>()
    for (const [name, value] of Object.entries(given)) {
      const column = this.#columns.get(name)
      if (column === undefined) this.#noteUnknown(name)
      else {
        const kept = valueOf(column, value)
        if ('problem' in kept) return { problem: `${path}.${name} ${kept.problem}` }
        values.set(name, kept.value)
      }
    }
    const problem = this.#problemOf(values)
    if (problem !== undefined) return { problem: `${path}.${problem}` }
    const fields = [...this.#columns].flatMap(([name, { field }]) => {
      const value = values.has(name) ? values.get(name) : present[field]
      return value === null || value === undefined ? [] : [[field, value] as const]
    })
    const data = Object.fromEntries(fields)
    const missing = this.#required.find((name) => !Object.hasOwn(data, this.#columns.get(name)!.field))
    if (missing !== undefined) return { problem: `${path}.${missing} must have a value: the column is required` }
    return this.#fitting(path, data)
  }

  /** A value of a column in the form in which rows hold it, or the reason why it is none. */
  valueOf(column: string, value: unknown): { value: unknown } | { problem: string } {
    return valueOf(this.#columns.get(column)!, value)
  }

  /** Describes the columns that were ignored. */
  warnings(): string[] {
    return [...this.unknown].map((name) => `The table has no column '${name}': its values are ignored`)
  }

  #noteUnknown(name: string): void {
    if ((systemColumns as readonly string[]).includes(name) || this.unknown.size >= maxUnknownColumns) return
    this.unknown.add(storableText(name.slice(0, 60)))
  }

  #problemOf(values: Map<string, unknown>): string | undefined {
    const detailed = [...values].filter(([name, value]) => this.#detailed.has(name) && value !== null)
    if (detailed.length === 0) return undefined
    const validated = this.#schema.validate(Object.fromEntries(detailed))
    return 'problem' in validated ? validated.problem : undefined
  }

  #fitting(path: string, data: Record<string, unknown>): CheckedRow {
    const text = JSON.stringify(data)
    if (isUnstorable(text)) {
      return { problem: `${path} holds a character that cannot be stored (U+0000 or half of a surrogate pair)` }
    }
    const bytes = Buffer.byteLength(text) + exponentDigits(text)
    if (bytes <= this.#maxBytes) return { data, text }
    return { problem: `${path} has ${bytes} bytes of JSON, more than the ${this.#maxBytes} of a row (4 KB × factor)` }
  }
}

/** How to write values that came as texts, as those of spreadsheets in other languages do. */
const forms: Record<string, string> = {
  number: 'as 12.5 is',
  boolean: 'true or false',
  array: 'as ["a", "b"] is in JSON',
  object: 'as {"a": 1} is in JSON',
}

function valueOf({ type, format, nullable }: Column, value: unknown): { value: unknown } | { problem: string } {
  if (value === null || value === undefined) return nullable ? { value: null } : { problem: 'must not be null' }
  if (type === 'string' && format === 'date-time') {
    const time = toTime(value)
    return time === undefined ? { problem: 'must be a time, as 2026-11-22T10:00:00Z is' } : { value: time }
  }
  if (type !== undefined && !isOfType(type, value)) {
    const form = typeof value === 'string' ? forms[type] : undefined
    return { problem: `must be ${type}${form === undefined ? '' : `, ${form}`}` }
  }
  if (isFiniteThroughout(value)) return { value }
  return { problem: 'holds a number that is out of range' }
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'object') return isObject(value)
  if (type === 'array') return Array.isArray(value)
  return typeof value === type
}

/** A number beyond the range is infinite once it is parsed, and null once it is stored. */
function isFiniteThroughout(value: unknown): boolean {
  const waiting = [value]
  while (waiting.length > 0) {
    const one = waiting.pop()
    if (typeof one === 'number' && !Number.isFinite(one)) return false
    if (typeof one === 'object' && one !== null) {
      for (const part of Array.isArray(one) ? (one as unknown[]) : Object.values(one)) waiting.push(part)
    }
  }
  return true
}

/** `JSON.stringify` escapes halves of surrogate pairs, and whole pairs not. */
function isUnstorable(json: string): boolean {
  return json.includes('\\u') && /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)
}
