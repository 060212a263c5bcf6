import type { Kind } from './column.ts'

const maxShown = 120

/** The start of a value as text; a cell can be far larger than the space for it. */
export function shorten(value: unknown): string {
  // Cut before it becomes part of the page, where a long text costs the most.
  const text = typeof value === 'string' ? value.slice(0, maxShown + 1) : (JSON.stringify(value) ?? '')
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}

/** A value as the text of its field. */
export function toText(value: unknown, kind: Kind): string {
  if (value === null || value === undefined) return ''
  if (kind === 'object' || kind === 'array') return JSON.stringify(value, null, 2)
  return kind === 'any' || typeof value !== 'string' ? JSON.stringify(value) : value
}

/**
 * Reads the text of a field. Empty texts of all types but `string` are no value.
 *
 * @throws Error that names the field
 */
export function fromText(text: string, kind: Kind, label: string): unknown {
  if (kind === 'string') return text
  const given = text.trim()
  if (given === '') return null
  if (kind === 'time') return given
  if (kind === 'number') {
    const number = Number(given)
    if (Number.isFinite(number)) return number
    throw new Error(`“${label}” must be a number`)
  }
  try {
    return JSON.parse(given) as unknown
  } catch {
    const hint = kind === 'any' ? ': a text has quotation marks' : ''
    throw new Error(`“${label}” must be JSON${hint}`)
  }
}
