import type { Block } from '../contract.ts'

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

/** Decodes a text file: UTF-16 by its byte order mark, else UTF-8, else the usual 8-bit encoding. */
export function decodeText(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
