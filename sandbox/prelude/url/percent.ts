import { decodeUtf8, encodeUtf8 } from '../encoding.ts'

/** The characters below 0x7f that are percent-encoded; all characters outside of printable ASCII always are. */
export type PercentSet = string

export const controlSet: PercentSet = ''
export const fragmentSet: PercentSet = ' "<>`'
export const querySet: PercentSet = ' "#<>'
export const specialQuerySet: PercentSet = `${querySet}'`
export const pathSet: PercentSet = `${querySet}?^\`{}`
export const userInfoSet: PercentSet = `${pathSet}/:;=@[\\]|`

const hexadecimal = Array.from({ length: 256 }, (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)

/** Percent-encodes the characters of the set, as the bytes of their UTF-8. */
export function percentEncode(text: string, set: PercentSet): string {
  if (isPlain(text, set)) return text
  let encoded = ''
  for (const character of text) encoded += isPlain(character, set) ? character : encodeCharacter(character)
  return encoded
}

function isPlain(text: string, set: PercentSet): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code > 0x7e || set.includes(text[index]!)) return false
  }
  return true
}

function encodeCharacter(character: string): string {
  let encoded = ''
  for (const byte of encodeUtf8(character)) encoded += hexadecimal[byte]!
  return encoded
}

/** Reverses `percentEncode`. A `%` without two hexadecimal digits stays, and invalid UTF-8 is replaced. */
export function percentDecode(text: string): string {
  if (!text.includes('%')) return text
  const bytes = encodeUtf8(text)
  let at = 0
  for (let index = 0; index < bytes.length; index += 1, at += 1) {
    const digits = bytes[index] === 0x25 ? String.fromCharCode(bytes[index + 1] ?? 0, bytes[index + 2] ?? 0) : ''
    const isEncoded = /^[0-9a-f]{2}$/i.test(digits)
    bytes[at] = isEncoded ? Number.parseInt(digits, 16) : bytes[index]!
    if (isEncoded) index += 2
  }
  return decodeUtf8(bytes.subarray(0, at))
}

/** Encodes a name or value as HTML forms do. */
export function formEncode(text: string): string {
  let encoded = ''
  for (const character of text) {
    if (/^[\w*.-]$/.test(character)) encoded += character
    else encoded += character === ' ' ? '+' : encodeCharacter(character)
  }
  return encoded
}
