import { TextDecoder } from 'node:util'

/** The most bytes that a character takes in UTF-8. */
const maxCharacterBytes = 4

/**
 * Decodes a text that comes in parts: UTF-16 by its byte order mark or the zero of its first character, else UTF-8, unless its
 * first character beyond ASCII is not valid there. Then it is Windows-1252, in which spreadsheets write CSV.
 */
export async function* decoded(content: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let held = Buffer.alloc(0)
  let isStart = true
  for await (const part of content) {
    if (decoder) {
      yield decoder.decode(part, { stream: true })
      continue
    }
    held = Buffer.concat([held, part])
    if (isStart && held.length < 2) continue
    const wide = isStart ? wideWithoutMark(held) : undefined
    if (wide !== undefined) decoder = new TextDecoder(wide)
    isStart = false
    const first = firstBeyondAscii(held)
    // The character may go on in the next part.
    if (!decoder && first >= 0 && held.length < first + maxCharacterBytes) continue
    if (first >= 0) decoder ??= new TextDecoder(encodingOf(held, first))
    yield decoder ? decoder.decode(held, { stream: true }) : held.toString('latin1')
    held = Buffer.alloc(0)
  }
  // The content ends with its first character beyond ASCII, or soon after it.
  if (held.length > 0) decoder ??= new TextDecoder(encodingOf(held, firstBeyondAscii(held)))
  if (decoder) yield decoder.decode(held)
}

/** UTF-16 has a zero beside each character of ASCII, with which a CSV or JSON without a byte order mark begins. */
function wideWithoutMark([first, second]: Uint8Array): string | undefined {
  if (first === 0 && second !== 0) return 'utf-16be'
  return second === 0 && first !== 0 ? 'utf-16le' : undefined
}

function firstBeyondAscii(bytes: Uint8Array): number {
  return bytes.findIndex((byte) => byte > 0x7f)
}

/** @param first the position of the first byte beyond ASCII */
function encodingOf(bytes: Buffer, first: number): string {
  if (first === 0 && bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (first === 0 && bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const lead = bytes[first]!
  const length = lead >= 0xf0 ? maxCharacterBytes : lead >= 0xe0 ? 3 : 2
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(first, first + length))
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}
