import { toDomString } from './text.ts'

export type HeadersSource = Iterable<readonly [unknown, unknown]> | Record<string, unknown> | undefined | null

const nameCharacters = /^[\w!#$%&'*+.^`|~-]+$/
const wrongInValues = /[\0\r\n\u0100-\uffff]/

/** The web's `Headers`. */
export class Headers {
  /** By lower-case name, the form in which names are reported. */
  readonly #values = new Map<string, string[]>()
  /** The entries in the order of iteration, until the next change. */
  #entries: [string, string][] | undefined

  constructor(source?: HeadersSource) {
    for (const [name, value] of entriesOf(source)) this.append(name, value)
  }

  append(name: unknown, value: unknown): void {
    const key = toName(name)
    this.#setValues(key, [...(this.#values.get(key) ?? []), toValue(value)])
  }

  set(name: unknown, value: unknown): void {
    this.#setValues(toName(name), [toValue(value)])
  }

  #setValues(key: string, values: string[]): void {
    this.#values.set(key, values)
    this.#entries = undefined
  }

  delete(name: unknown): void {
    this.#values.delete(toName(name))
    this.#entries = undefined
  }

  has(name: unknown): boolean {
    return this.#values.has(toName(name))
  }

  get(name: unknown): string | null {
    return this.#values.get(toName(name))?.join(', ') ?? null
  }

  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])]
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    for (const [name, value] of this.#list()) Reflect.apply(callback, self, [value, name, this])
  }

  entries(): Generator<[string, string]> {
    return this.#list()
  }

  /** Sorted by name. Cookies cannot be joined, so each is an entry. Entries added during the iteration are included. */
  *#list(): Generator<[string, string]> {
    for (let index = 0; ; index += 1) {
      this.#entries ??= this.#sorted()
      const entry = this.#entries[index]
      if (entry === undefined) return
      // A copy, because the receiver may change it.
      yield [...entry]
    }
  }

  #sorted(): [string, string][] {
    return [...this.#values.keys()].toSorted().flatMap((name) => {
      const values = this.#values.get(name)!
      return (name === 'set-cookie' ? values : [values.join(', ')]).map((value): [string, string] => [name, value])
    })
  }

  *keys(): Generator<string> {
    for (const [name] of this.#list()) yield name
  }

  *values(): Generator<string> {
    for (const [, value] of this.#list()) yield value
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.#list()
  }

  get [Symbol.toStringTag](): string {
    return 'Headers'
  }
}

function entriesOf(source: unknown): Iterable<readonly [unknown, unknown]> {
  if (source === undefined) return []
  if (source === null || (typeof source !== 'object' && typeof source !== 'function')) {
    throw new TypeError('Headers must be an object or a list of pairs: [name, value]')
  }
  const { [Symbol.iterator]: iterate } = source as Partial<Iterable<Iterable<unknown>>>
  if (iterate !== undefined && iterate !== null) return Array.from(source as Iterable<Iterable<unknown>>, toPair)
  return propertiesOf(source)
}

function toPair(given: Iterable<unknown>): [unknown, unknown] {
  const pair = typeof given === 'object' && given !== null ? [...given] : []
  if (pair.length !== 2) throw new TypeError('Each header must be a pair: [name, value]')
  return [pair[0], pair[1]]
}

/**
 * An object's own properties, symbols included: a symbol is not a valid name, and must be rejected rather than skipped.
 */
export function propertiesOf(source: object): [PropertyKey, unknown][] {
  return Reflect.ownKeys(source)
    .filter((key) => Object.getOwnPropertyDescriptor(source, key)?.enumerable)
    .map((key) => [key, (source as Record<PropertyKey, unknown>)[key]])
}

function toName(name: unknown): string {
  const text = toDomString(name)
  if (!nameCharacters.test(text)) throw new TypeError(`'${text}' is not a valid name of a header`)
  return text.toLowerCase()
}

function toValue(value: unknown): string {
  const text = toDomString(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
  if (wrongInValues.test(text)) throw new TypeError('The value of a header contains invalid characters')
  return text
}
