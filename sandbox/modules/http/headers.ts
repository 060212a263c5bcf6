import { toDomString } from '../../prelude/text.ts'
import { codedError } from '../../prelude/node-errors.ts'

const token = /^[\w!#$%&'*+.^`|~-]+$/
const invalidInValue = /[^\t\x20-\x7e\x80-\xff]/

export function validateHeaderName(name: unknown): void {
  if (typeof name === 'string' && token.test(name)) return
  throw codedError('ERR_INVALID_HTTP_TOKEN', `Header name must be a valid HTTP token ["${String(name)}"]`, TypeError)
}

export function validateHeaderValue(name: string, value: unknown): void {
  if (value === undefined)
    throw codedError('ERR_HTTP_INVALID_HEADER_VALUE', `Invalid value "undefined" for header "${name}"`, TypeError)
  if (invalidInValue.test(toDomString(value)))
    throw codedError('ERR_INVALID_CHAR', `Invalid character in header content ["${name}"]`, TypeError)
}

type Value = string | number | readonly string[]

/** The headers of a request, by lower-case name, with the names as they were given. */
export class OutgoingHeaders {
  readonly #entries = new Map<string, { name: string; value: Value }>()

  set(name: string, value: unknown): void {
    validateHeaderName(name)
    for (const each of [value].flat()) validateHeaderValue(name, each)
    this.#entries.set(name.toLowerCase(), { name, value: value as Value })
  }

  append(name: string, value: Value): void {
    const before = this.get(name)
    this.set(name, before === undefined ? value : [before, value].flat().map(String))
  }

  get(name: string): Value | undefined {
    return this.#entries.get(name.toLowerCase())?.value
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase())
  }

  remove(name: string): void {
    this.#entries.delete(name.toLowerCase())
  }

  names(): string[] {
    return [...this.#entries.keys()]
  }

  rawNames(): string[] {
    return Array.from(this.#entries.values(), ({ name }) => name)
  }

  /** As Node returns them: an object without a prototype. */
  toObject(): Record<string, Value> {
    const object = Object.create(null) as Record<string, Value>
    for (const [name, { value }] of this.#entries) object[name] = value
    return object
  }

  /** For `fetch`. */
  toPairs(): [string, string][] {
    return Array.from(this.#entries, ([name, { value }]) => {
      const separator = name === 'cookie' ? '; ' : ', '
      return [name, [value].flat().join(separator)]
    })
  }
}

/** Sets headers given as an object, as a list of pairs, or as a list of names and values in turn. */
export function setAll(headers: OutgoingHeaders, given: unknown): void {
  if (given === undefined || given === null) return
  if (!Array.isArray(given)) {
    const pairs =
      typeof given === 'object' && Symbol.iterator in given
        ? [...(given as Iterable<[string, unknown]>)]
        : Object.entries(given)
    for (const [name, value] of pairs) if (value !== undefined) headers.set(name, value)
    return
  }
  const list = given as unknown[]
  if (Array.isArray(list[0])) for (const [name, value] of list as [string, Value][]) headers.append(name, value)
  else for (let at = 0; at + 1 < list.length; at += 2) headers.append(String(list[at]), list[at + 1] as Value)
}
