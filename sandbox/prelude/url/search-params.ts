import { propertiesOf } from '../headers.ts'
import { toText } from '../text.ts'
import { formEncode, percentDecode } from './percent.ts'

type Pair = [string, string]

/** Key of the callback that informs the owner of the parameters of a change. */
export const onChange = Symbol('onChange')
/** Key of the method that parses the parameters again. */
export const replaceAll = Symbol('replaceAll')

/** The web's `URLSearchParams`. */
export class URLSearchParams {
  #pairs: Pair[]
  /** Called with the serialized parameters. Its key is a symbol that bot code does not have. */
  declare [onChange]: ((text: string) => void) | undefined

  constructor(source: unknown = '') {
    Object.defineProperty(this, onChange, { value: undefined, writable: true, enumerable: false })
    this.#pairs = toPairs(source)
  }

  get size(): number {
    return this.#pairs.length
  }

  append(name: unknown, value: unknown): void {
    need(arguments.length, 2)
    this.#pairs.push([toText(name), toText(value)])
    this.#changed()
  }

  delete(name: unknown, value?: unknown): void {
    need(arguments.length, 1)
    const [wanted, only] = [toText(name), value === undefined ? undefined : toText(value)]
    this.#pairs = this.#pairs.filter(([key, held]) => key !== wanted || (only !== undefined && held !== only))
    this.#changed()
  }

  get(name: unknown): string | null {
    need(arguments.length, 1)
    const wanted = toText(name)
    return this.#pairs.find(([key]) => key === wanted)?.[1] ?? null
  }

  getAll(name: unknown): string[] {
    need(arguments.length, 1)
    const wanted = toText(name)
    return this.#pairs.filter(([key]) => key === wanted).map(([, value]) => value)
  }

  has(name: unknown, value?: unknown): boolean {
    need(arguments.length, 1)
    const [wanted, only] = [toText(name), value === undefined ? undefined : toText(value)]
    return this.#pairs.some(([key, held]) => key === wanted && (only === undefined || held === only))
  }

  set(name: unknown, value: unknown): void {
    need(arguments.length, 2)
    const pair: Pair = [toText(name), toText(value)]
    const first = this.#pairs.findIndex(([key]) => key === pair[0])
    if (first === -1) this.#pairs.push(pair)
    else {
      this.#pairs = this.#pairs.filter(([key], index) => key !== pair[0] || index === first)
      this.#pairs[first] = pair
    }
    this.#changed()
  }

  sort(): void {
    this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    this.#changed()
  }

  forEach(callback: (value: string, name: string, all: URLSearchParams) => void, self?: unknown): void {
    if (typeof callback !== 'function') throw new TypeError('forEach requires a function')
    for (const [name, value] of this.#list()) Reflect.apply(callback, self, [value, name, this])
  }

  entries(): Generator<Pair> {
    return this.#list()
  }

  /** Classes that derive from this one may replace all other methods. */
  *#list(): Generator<Pair> {
    for (let index = 0; index < this.#pairs.length; index += 1) yield [...this.#pairs[index]!]
  }

  *keys(): Generator<string> {
    for (const [name] of this.#list()) yield name
  }

  *values(): Generator<string> {
    for (const [, value] of this.#list()) yield value
  }

  [Symbol.iterator](): Generator<Pair> {
    return this.#list()
  }

  toString(): string {
    return this.#pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('&')
  }

  get [Symbol.toStringTag](): string {
    return 'URLSearchParams'
  }

  [replaceAll](text: string): void {
    this.#pairs = parsePairs(text)
  }

  #changed(): void {
    this[onChange]?.(this.toString())
  }
}

function toPairs(source: unknown): Pair[] {
  if ((typeof source !== 'object' && typeof source !== 'function') || source === null) {
    return parsePairs(toText(source).replace(/^\?/, ''))
  }
  if (typeof (source as Partial<Iterable<unknown>>)[Symbol.iterator] !== 'function') {
    // Names can be the same once their lone surrogates are replaced: the last value counts.
    return [...new Map(propertiesOf(source).map(([name, value]): Pair => [toText(name), toText(value)]))]
  }
  return Array.from(source as Iterable<Iterable<unknown>>, (pair) => {
    const values = [...pair]
    if (values.length !== 2) throw new TypeError('Each query parameter must be a pair: [name, value]')
    return [toText(values[0]), toText(values[1])]
  })
}

function parsePairs(text: string): Pair[] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [, name, value] = /^([^=]*)=?(.*)$/s.exec(part)!
      return [formDecode(name!), formDecode(value!)]
    })
}

function formDecode(text: string): string {
  return percentDecode(text.replaceAll('+', ' ')).toWellFormed()
}

function need(given: number, needed: number): void {
  if (given < needed) throw new TypeError(`This requires ${needed} arguments, not ${given}`)
}
