/** Node's `querystring`. */

type Query = Record<string, string | string[]>

export function createQueryString() {
  const module = { escape, unescape, unescapeBuffer, stringify, encode: stringify, parse, decode: parse }

  function stringify(
    values: unknown,
    separator?: string | null,
    equals?: string | null,
    options?: { encodeURIComponent?: (text: string) => string },
  ): string {
    if (typeof values !== 'object' || values === null) return ''
    const encode = options?.encodeURIComponent ?? module.escape
    const pairs = Object.entries(values).flatMap(([key, value]) =>
      (Array.isArray(value) ? value : [value]).map(
        (one) => `${encode(toText(key))}${equals || '='}${encode(toText(one))}`,
      ),
    )
    return pairs.join(separator || '&')
  }

  function parse(
    text: unknown,
    separator?: string | null,
    equals?: string | null,
    options?: { maxKeys?: number; decodeURIComponent?: (text: string) => string },
  ): Query {
    const query = Object.create(null) as Query
    if (typeof text !== 'string' || text === '') return query
    const { decodeURIComponent: decode = module.unescape } = options ?? {}
    const maxKeys = typeof options?.maxKeys === 'number' ? options.maxKeys : 1000
    const decodeSafely = (part: string) => decodeWith(decode, part.replaceAll('+', ' '))
    const parts = text.split(separator || '&')
    const read = maxKeys > 0 ? parts.slice(0, maxKeys) : parts
    for (const part of read) {
      if (part !== '') addPair(query, part, equals || '=', decodeSafely)
    }
    return query
  }

  return module
}

function addPair(query: Query, part: string, equals: string, decode: (text: string) => string): void {
  const at = part.indexOf(equals)
  const key = decode(at === -1 ? part : part.slice(0, at))
  const value = at === -1 ? '' : decode(part.slice(at + equals.length))
  const known = query[key]
  if (known === undefined) query[key] = value
  else if (Array.isArray(known)) known.push(value)
  else query[key] = [known, value]
}

/** The text of a value; empty for values that are none in a query. */
function toText(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : ''
  return ['string', 'bigint', 'boolean'].includes(typeof value) ? String(value) : ''
}

function escape(text: unknown): string {
  try {
    return encodeURIComponent(String(text))
  } catch {
    throw Object.assign(new URIError('URI malformed'), { code: 'ERR_INVALID_URI' })
  }
}

function decodeWith(decode: (text: string) => string, text: string): string {
  try {
    return decode(text)
  } catch {
    return unescape(text)
  }
}

/** Decodes a text; what is no UTF-8 becomes U+FFFD, and what is no escape stays. */
function unescape(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return unescapeBuffer(text).toString()
  }
}

function unescapeBuffer(text: string): Buffer {
  const parts = text.split(/((?:%[\da-f]{2})+)/i)
  return Buffer.concat(
    parts.map((part, index) => (index % 2 === 1 ? Buffer.from(part.replaceAll('%', ''), 'hex') : Buffer.from(part))),
  )
}
