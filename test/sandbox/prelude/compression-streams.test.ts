import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { DecompressionStream } from '../../../sandbox/prelude/compression-streams.ts'

const text = 'abc abd é '.repeat(6)

/** Decodes chunks of a number of bytes. */
async function decode(format: string, packed: Uint8Array, bytesPerChunk: number): Promise<string> {
  const { readable, writable } = new DecompressionStream(format)
  const writer = writable.getWriter()
  const written = (async () => {
    for (let at = 0; at < packed.length; at += bytesPerChunk) {
      await writer.write(new Uint8Array(packed.subarray(at, at + bytesPerChunk)))
    }
    await writer.close()
  })()
  const [decoded] = await Promise.all([
    new Response(readable as unknown as ReadableStream<Uint8Array<ArrayBuffer>>).text(),
    written,
  ])
  return decoded
}

test.for([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate-raw', deflateRawSync],
] as const)(
  '%s data are decoded whole, and refused when any of their last bytes are missing',
  async ([format, pack]) => {
    // Stored, fixed and dynamic blocks.
    for (const options of [{ level: 0 }, { strategy: 4 }, { level: 9 }]) {
      const packed = pack(text, options)
      for (const bytesPerChunk of [1, 7, packed.length]) {
        expect(await decode(format, packed, bytesPerChunk)).toBe(text)
        for (let end = 0; end < packed.length; end += 1) {
          await expect(decode(format, packed.subarray(0, end), bytesPerChunk)).rejects.toThrow(TypeError)
        }
      }
    }
  },
)
