import { latin1Text } from './base64.ts'

/** The encodings of the web's `TextDecoder` that need no large table. */
export type Encoding = 'utf-8' | OtherEncoding

type OtherEncoding = 'windows-1252' | 'utf-16le' | 'utf-16be'

const labels: Record<Encoding, string> = {
  'utf-8': 'utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8',
  'windows-1252':
    'windows-1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252',
  'utf-16le': 'utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16',
  'utf-16be': 'utf-16be unicodefffe',
}

/** The encodings by their labels, in lower case. */
export const encodings = new Map(
  (Object.keys(labels) as Encoding[]).flatMap((encoding) =>
    labels[encoding].split(' ').map((label) => [label, encoding] as const),
  ),
)

/** The characters of the bytes 0x80 to 0x9f in windows-1252. */
const ofWindows = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

const chunkUnits = 8192

/** @throws TypeError when `fatal` is set and the bytes are not valid */
export function decodeOther(encoding: OtherEncoding, bytes: Uint8Array, fatal: boolean): string {
  if (encoding === 'windows-1252') {
    return latin1Text(bytes).replace(/[\x80-\x9f]/g, (character) => ofWindows[character.charCodeAt(0) - 0x80]!)
  }
  const text = unitsOf(bytes, encoding === 'utf-16be')
  const isCut = bytes.length % 2 === 1
  if (!isCut && text.isWellFormed()) return text
  if (fatal) throw new TypeError('The bytes are not valid UTF-16')
  return text.toWellFormed() + (isCut ? '\uFFFD' : '')
}

/** The units of UTF-16, without a last byte that is half of one. */
function unitsOf(bytes: Uint8Array, isBigEndian: boolean): string {
  const [low, high] = isBigEndian ? [1, 0] : [0, 1]
  let text = ''
  for (let start = 0; start + 1 < bytes.length; start += chunkUnits * 2) {
    const units = new Uint16Array(Math.min(chunkUnits, (bytes.length - start) >> 1))
    for (let index = 0; index < units.length; index += 1) {
      const at = start + index * 2
      units[index] = bytes[at + low]! | (bytes[at + high]! << 8)
    }
    text += Reflect.apply(String.fromCharCode, undefined, units as unknown as number[])
  }
  return text
}

/** Number of bytes before an incomplete character at the end. */
export function wholeLengthOfOther(encoding: OtherEncoding, bytes: Uint8Array): number {
  if (encoding === 'windows-1252') return bytes.length
  const even = bytes.length - (bytes.length % 2)
  if (even === 0) return 0
  const first = bytes[even - (encoding === 'utf-16be' ? 2 : 1)]!
  return (first & 0xfc) === 0xd8 ? even - 2 : even
}
