type Inspect = (value: unknown, options?: object) => string
type Pairs = Iterable<readonly [string, unknown]>

/** The properties to show of objects that have none of their own, and are no lists of pairs. */
const shown: Record<string, string> = {
  AbortSignal: 'aborted',
  Blob: 'size type',
  File: 'size type name lastModified',
  Request: 'method url headers redirect signal',
  Response: 'status statusText headers bodyUsed ok type url',
  URL: 'href origin protocol username password host hostname port pathname search searchParams hash',
}

/**
 * Lets the console and `util.inspect` show objects of the web as Node does, by `util.inspect.custom`.
 *
 * @param classes by name
 */
export function defineInspected(classes: Record<string, { prototype: object }>): void {
  for (const [name, { prototype }] of Object.entries(classes)) {
    const value = function (this: object, depth: number, options: object, inspect: Inspect): string {
      const own = this.constructor.name
      // The prototype itself has none of the values.
      if (this === prototype || depth < 0) return `[${own}]`
      const keys = shown[name]?.split(' ')
      const pairs = keys?.map((key) => [key, (this as Record<string, unknown>)[key]] as const) ?? [...(this as Pairs)]
      if (name !== 'URLSearchParams') return `${own} ${inspect(group(pairs), options)}`
      const texts = pairs.map((pair) => pair.map((text) => inspect(text, options)).join(' => '))
      return `${own} {${texts.length > 0 ? ` ${texts.join(', ')} ` : ''}}`
    }
    Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), { value, configurable: true })
  }
}

/** Values by name, with lists of those that have the same one. */
function group(pairs: Pairs): object {
  const groups = Object.create(null) as Record<string, unknown[]>
  for (const [name, value] of pairs) (groups[name] ??= []).push(value)
  return Object.fromEntries(Object.entries(groups).map(([name, all]) => [name, all.length > 1 ? all : all[0]]))
}
