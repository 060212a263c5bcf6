import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Bytes that are parsed in one turn of the event loop: the smallest records take 25 ms for them. */
export const sliceBytes = 8 * 1024

/** Passes a stream through another one. An error of either is thrown to the reader. */
export function through(content: AsyncIterable<Uint8Array | string>, transform: Transform): Transform {
  pipeline(Readable.from(content, { objectMode: false, highWaterMark: sliceBytes }), transform).catch(() => {})
  return transform
}
