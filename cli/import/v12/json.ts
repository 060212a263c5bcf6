/** Readers of untrusted JSON: each returns an empty value for anything of another type. */

export type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = Object.freeze({})

export function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : noFields
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? `${value}` : ''
}

/** The texts of a list. */
export function toTexts(value: unknown): string[] {
  return toList(value).filter((item) => typeof item === 'string')
}

/** Names that would change an object’s prototype. */
const refused = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Parses JSON with or without a byte-order mark. Names such as `__proto__` are left out.
 *
 * @param onRefused receives each name left out
 * @throws SyntaxError
 */
export function parseJson(text: string, onRefused: (name: string) => void = () => {}): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ''), function (this: unknown, name: string, value: unknown): unknown {
    if (!refused.has(name) || Array.isArray(this)) return value
    onRefused(name)
    return undefined
  }) as unknown
}

export function isRefusedName(name: string): boolean {
  return refused.has(name)
}
