export type HeadersSource = Iterable<readonly [unknown, unknown]> | Record<string, unknown> | undefined | null

const nameCharacters = /^[\w!#$%&'*+.^`|~-]+$/
const wrongInValues = /[\0\r\n\u0100-\uffff]/

/** The web's `Headers`. */
export class Headers {
  /** By lower-case names, which is how they are told. */
  readonly #values = new Map<string, string[]>()

  constructor(source?: HeadersSource) {
    for (const entry of entriesOf(source)) {
      const [name, value, ...more] = entry
      if (value === undefined && !(1 in entry)) throw new TypeError('Each header is a pair: [name, value]')
      if (more.length > 0) throw new TypeError('Each header is a pair: [name, value]')
      this.append(name, value)
    }
  }

  append(name: unknown, value: unknown): void {
    const key = toName(name)
    this.#values.set(key, [...(this.#values.get(key) ?? []), toValue(value)])
  }

  set(name: unknown, value: unknown): void {
    this.#values.set(toName(name), [toValue(value)])
  }

  delete(name: unknown): void {
    this.#values.delete(toName(name))
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
    for (const [name, value] of this) Reflect.apply(callback, self, [value, name, this])
  }

  /** In the order of their names; cookies, which can not be joined, one by one. */
  *entries(): Generator<[string, string]> {
    for (const name of [...this.#values.keys()].toSorted()) {
      const values = this.#values.get(name) ?? []
      for (const value of name === 'set-cookie' ? values : [values.join(', ')]) yield [name, value]
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this) yield name
  }

  *values(): Generator<string> {
    for (const [, value] of this) yield value
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries()
  }

  get [Symbol.toStringTag](): string {
    return 'Headers'
  }
}

function entriesOf(source: HeadersSource): Iterable<readonly [unknown, unknown]> {
  if (source === undefined || source === null) return []
  return isIterable(source) ? source : Object.entries(source)
}

function isIterable(source: object): source is Iterable<readonly [unknown, unknown]> {
  return Symbol.iterator in source
}

function toName(name: unknown): string {
  const text = String(name)
  if (!nameCharacters.test(text)) throw new TypeError(`There can be no header called '${text}'`)
  return text.toLowerCase()
}

function toValue(value: unknown): string {
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
  if (wrongInValues.test(text))
    throw new TypeError('The value of a header can not have line breaks, nor all characters')
  return text
}
