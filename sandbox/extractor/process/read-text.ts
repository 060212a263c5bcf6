import type { Block } from '../contract.ts'
import { Refused } from './refused.ts'

/** Divides plain text at blank lines. */
export function* readText(text: string): Generator<Block> {
  let start = 0
  for (const { 0: blank, index } of text.matchAll(/\n[^\S\n]*\n\s*/g)) {
    yield* paragraph(text.slice(start, index))
    start = index + blank.length
  }
  yield* paragraph(text.slice(start))
}

function* paragraph(text: string): Generator<Block> {
  if (text.trim() !== '') yield { subtype: 'paragraph', text: text.trim() }
}

const sniffedBytes = 4096

/**
 * Decodes a text file: UTF-16 by its byte order mark or its zeros, else UTF-8, else the encoding that the file or its
 * content type declares, else the usual 8-bit encoding.
 *
 * @throws Refused when the bytes are no text
 */
export function decodeText(bytes: Buffer, declared: string | undefined): string {
  const wide = wideEncodingOf(bytes)
  if (wide !== undefined) return new TextDecoder(wide).decode(bytes)
  if (bytes.subarray(0, sniffedBytes).includes(0)) {
    throw new Refused('The file is not text: its content type or its extension is wrong')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return decodeEightBit(bytes, declared)
  }
}

/** UTF-16 without a byte order mark has a zero beside each character of Latin letters, always on the same side. */
function wideEncodingOf(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const sniffed = bytes.subarray(0, sniffedBytes)
  const zeros = { even: 0, odd: 0 }
  for (const [index, byte] of sniffed.entries()) if (byte === 0) zeros[index % 2 === 0 ? 'even' : 'odd'] += 1
  if (zeros.even + zeros.odd < sniffed.length / 4) return undefined
  if (zeros.even === 0) return 'utf-16le'
  return zeros.odd === 0 ? 'utf-16be' : undefined
}

function decodeEightBit(bytes: Buffer, declared: string | undefined): string {
  const usual = 'windows-1252'
  // The text is in none of the UTF, although many files and programs say so of every text.
  const encoding = declared === undefined || /^utf/i.test(declared) ? usual : declared
  try {
    return new TextDecoder(encoding).decode(bytes)
  } catch {
    return new TextDecoder(usual).decode(bytes)
  }
}
