import { megabyte } from '../units.ts'

/**
 * PostgreSQL keeps the numbers of `jsonb` as decimals, and writes them without exponents: `1e300` as 301 digits. A text of 1 MB
 * would be one of 50 MB each time it is read, so that limits of JSON count these digits.
 */

/** Maximum of these digits in a body, a call or an answer. */
export const maxExponentDigits = megabyte

/** The exponents of JavaScript's numbers are smaller: beyond them a number is 0 or infinite. */
const maxExponent = 324

/** `"`, `E`, `e`, `+` and `-`. */
const [quote, capitalE, smallE, plus, minus] = [0x22, 0x45, 0x65, 0x2b, 0x2d]

/** The length of JSON as PostgreSQL writes it, in UTF-16 units: an upper bound, without the spaces that it inserts. */
export function storedLength(json: string): number {
  return json.length + exponentDigits(json)
}

/** The digits that PostgreSQL writes in place of the exponents of a JSON text: an upper bound. */
export function exponentDigits(json: string): number {
  if (!/\d[eE]/.test(json)) return 0
  let digits = 0
  for (let index = 0; index < json.length; index += 1) {
    const character = json.charCodeAt(index)
    if (character === quote) index = endOfString(json, index)
    else digits += digitsAt(json, index, character)
  }
  return digits
}

/**
 * The same of one character outside of strings.
 *
 * @param character the code at the index
 */
export function digitsAt(json: string, index: number, character: number): number {
  if (character !== smallE && character !== capitalE) return 0
  const sign = json.charCodeAt(index + 1)
  let exponent = 0
  for (let at = sign === plus || sign === minus ? index + 2 : index + 1; exponent < maxExponent; at += 1) {
    const digit = json.charCodeAt(at) - 0x30
    if (!(digit >= 0 && digit <= 9)) return exponent
    exponent = exponent * 10 + digit
  }
  return maxExponent
}

/** The index of the closing quote of a string of JSON, or of the end. @param start index of the opening quote */
export function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return json.length
}
