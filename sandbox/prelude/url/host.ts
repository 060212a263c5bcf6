import { controlSet, percentDecode, percentEncode } from './percent.ts'
import { encodePunycode } from './punycode.ts'

const forbiddenInHosts = /[\0\t\n\r #/:<>?@[\\\]^|]/
// oxlint-disable-next-line no-control-regex -- no host has control characters.
const forbiddenInDomains = /[\0-\x20#%/:<>?@[\\\]^|\x7f]/

/**
 * Reads the host of a URL; undefined when it is invalid.
 *
 * @param isSpecial whether the host is a domain or an address, as in URLs of HTTP, rather than an opaque name
 */
export function parseHost(text: string, isSpecial: boolean): string | undefined {
  if (text[0] === '[') {
    const address = text.at(-1) === ']' ? parseIpv6(text.slice(1, -1)) : undefined
    return address && `[${showIpv6(address)}]`
  }
  if (!isSpecial) return forbiddenInHosts.test(text) ? undefined : percentEncode(text, controlSet)
  const domain = toAscii(percentDecode(text))
  if (domain === undefined || domain === '' || forbiddenInDomains.test(domain)) return undefined
  return endsInNumber(domain) ? parseIpv4(domain) : domain
}

/** Characters that are ignored in domains: soft hyphens, joiners without an effect, variation selectors. */
// oxlint-disable-next-line no-misleading-character-class -- each stands for itself.
const ignored = /[\u00ad\u034f\u180b-\u180f\u200b\u2060\u2064\ufe00-\ufe0f\ufeff\u{e0100}-\u{e01ef}]/gu
// oxlint-disable-next-line no-misleading-character-class -- likewise.
const unassigned = /[\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Cc}\p{Bidi_C}\u200c\u200d\ufffd]/u
const mark = /^\p{M}/u

/**
 * A domain in ASCII, in lower case. V8 provides the normal forms of Unicode but not the tables of UTS 46, so a few
 * domains pass that a browser refuses; name resolution refuses those.
 */
function toAscii(domain: string): string | undefined {
  if (isAscii(domain)) return domain.toLowerCase()
  const mapped = domain.replace(ignored, '').normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll('\u3002', '.')
  const labels = mapped.split('.')
  if (labels.some(isNoLabel)) return undefined
  return labels.map((label) => (isAscii(label) ? label : `xn--${encodePunycode(label)}`)).join('.')
}

function isNoLabel(label: string): boolean {
  return unassigned.test(label) || mark.test(label) || (label.startsWith('xn--') && !isAscii(label))
}

function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- that is what ASCII is.
  return /^[\0-\x7f]*$/.test(text)
}

function endsInNumber(domain: string): boolean {
  const parts = domain.split('.')
  if (parts.at(-1) === '' && parts.length > 1) parts.pop()
  const last = parts.at(-1)!
  return /^\d+$/.test(last) || /^0x[\da-f]*$/i.test(last)
}

function parseIpv4(text: string): string | undefined {
  const parts = text.split('.')
  if (parts.at(-1) === '' && parts.length > 1) parts.pop()
  if (parts.length > 4) return undefined
  const numbers = parts.map(parseIpv4Number)
  const last = numbers.pop()!
  if (numbers.some((number) => !(number <= 255)) || !(last < 256 ** (4 - numbers.length))) return undefined
  let address = last
  for (const [index, number] of numbers.entries()) address += number * 256 ** (3 - index)
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

/** Parses a decimal, octal or hexadecimal number; NaN when it is none of these. */
function parseIpv4Number(text: string): number {
  if (/^0x[\da-f]*$/i.test(text)) return text.length === 2 ? 0 : Number.parseInt(text, 16)
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8)
  return /^(0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN
}

/** Parses the eight pieces of an address. */
function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [before, after] = halves.map((half, index) => parsePieces(half, index === halves.length - 1))
  if (before === undefined) return undefined
  if (halves.length === 1) return before.length === 8 ? before : undefined
  if (after === undefined || before.length + after.length > 7) return undefined
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}

function parsePieces(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return []
  const pieces: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (isEnd && index === parts.length - 1 && part.includes('.')) {
      const bytes = part.split('.')
      if (bytes.length !== 4 || !bytes.every((byte) => /^(0|[1-9]\d{0,2})$/.test(byte) && Number(byte) < 256)) return
      pieces.push(Number(bytes[0]) * 256 + Number(bytes[1]), Number(bytes[2]) * 256 + Number(bytes[3]))
    } else if (/^[\da-f]{1,4}$/i.test(part)) pieces.push(Number.parseInt(part, 16))
    else return undefined
  }
  return pieces
}

/** The first of the longest runs of zeros is abbreviated, unless it is a single piece. */
function showIpv6(pieces: number[]): string {
  let start = -1
  let length = 1
  for (let from = 0; from < 8; from += 1) {
    let to = from
    while (pieces[to] === 0) to += 1
    if (to - from > length) [start, length] = [from, to - from]
  }
  const shown = pieces.map((piece) => piece.toString(16))
  if (start === -1) return shown.join(':')
  return `${shown.slice(0, start).join(':')}::${shown.slice(start + length).join(':')}`
}
