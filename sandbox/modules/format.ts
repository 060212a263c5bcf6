import util from 'util'

/** Node's `util.format`; the package knows fewer of its directives. */
export function format(...values: unknown[]): string {
  const [first, ...rest] = values
  if (typeof first !== 'string') return values.map(toText).join(' ')
  let taken = 0
  const text = first.replaceAll(/%([sdifjoOc%])/g, (directive, kind: string) => {
    if (kind === '%') return '%'
    if (taken >= rest.length) return directive
    const value = rest[taken]
    taken += 1
    return convert(kind, value)
  })
  return [text, ...rest.slice(taken).map(toText)].join(' ')
}

function convert(kind: string, value: unknown): string {
  switch (kind) {
    case 's':
      return typeof value === 'bigint'
        ? `${value}n`
        : isPlain(value)
          ? util.inspect(value, { depth: 0 })
          : String(value)
    case 'd':
      return typeof value === 'bigint' ? `${value}n` : String(isObject(value) ? Number.NaN : Number(value))
    case 'i':
      return typeof value === 'bigint'
        ? `${value}n`
        : String(isObject(value) ? Number.NaN : Number.parseInt(String(value)))
    case 'f':
      return String(Number.parseFloat(String(value)))
    case 'j':
      return toJson(value)
    case 'c':
      return ''
    default:
      return util.inspect(value, { showHidden: kind === 'o', depth: kind === 'o' ? 4 : undefined } as object)
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : util.inspect(value)
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** Whether an object would only say that it is one. */
function isPlain(value: unknown): boolean {
  return isObject(value) && (value as object).toString === Object.prototype.toString
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof TypeError && /circular/i.test(error.message)) return '[Circular]'
    throw error
  }
}
