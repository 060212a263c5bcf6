import type { Json } from './contract.ts'

/** V8 parses any depth, but serializes only some thousands. */
const maxDepth = 1000

/**
 * The database writes numbers without exponents, `1e300` as 301 digits: a call of 1 MB could be 50 MB of text. At most so many
 * digits take the place of exponents.
 */
const maxExponentDigits = 1024 * 1024
/** Shorter texts exceed no bound: the exponents of JavaScript's numbers have three digits. */
const shortCharacters = 1000
/** The exponents of JavaScript's numbers are smaller. */
const maxExponent = 324

/** `"`, `[`, `{`, `]`, `}`, `E`, `e`, `+` and `-`. */
const [quote, bracket, brace, closingBracket, closingBrace] = [0x22, 0x5b, 0x7b, 0x5d, 0x7d]
const [capitalE, smallE, plus, minus] = [0x45, 0x65, 0x2b, 0x2d]

/**
 * Parses JSON from bot code. Keys called `__proto__` are dropped: harmless here, they would change the prototype of an
 * object to which they are assigned later.
 *
 * @throws SyntaxError when it is not valid JSON
 * @throws TypeError when it is nested too deep to be serialized again, or its numbers have too many digits
 */
export function parseUntrustedJson(text: string): Json {
  assertBounded(text)
  const parsed = JSON.parse(text) as Json
  if (text.includes('__proto__') || text.includes('\\u')) dropPrototypes(parsed)
  return parsed
}

/** `JSON.parse` with a reviver would block the worker for a second and more with one megabyte. */
function dropPrototypes(value: Json): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) delete value['__proto__']
  const parts = Array.isArray(value) ? value : Object.values(value)
  for (const part of parts) if (typeof part === 'object') dropPrototypes(part)
}

/** @throws TypeError */
function assertBounded(text: string): void {
  if (text.length < shortCharacters) return
  let depth = 0
  let exponentDigits = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (character === quote) index = endOfString(text, index)
    else if (character === bracket || character === brace) depth += 1
    else if (character === closingBracket || character === closingBrace) depth -= 1
    else if (character === smallE || character === capitalE) exponentDigits += exponentAt(text, index + 1)
    if (depth > maxDepth) throw new TypeError(`JSON may be nested at most ${maxDepth} levels deep`)
  }
  if (exponentDigits > maxExponentDigits) {
    throw new TypeError(
      'The numbers have more than 1 MB of digits without exponents, 1e300 has 301: pass them as texts',
    )
  }
}

/** The exponent that begins at an index; 0 if none does. */
function exponentAt(text: string, start: number): number {
  const sign = text.charCodeAt(start)
  let exponent = 0
  for (let index = sign === plus || sign === minus ? start + 1 : start; exponent < maxExponent; index += 1) {
    const digit = text.charCodeAt(index) - 0x30
    if (!(digit >= 0 && digit <= 9)) return exponent
    exponent = exponent * 10 + digit
  }
  return maxExponent
}

/** @param start index of the opening quote */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
