import { partBytes } from '../protocol/units.ts'
import type { Parts } from './body.ts'
import { Incoming } from './incoming.ts'

type Bytes = Uint8Array<ArrayBuffer>
type Part = string | ArrayBuffer | undefined

/** The body of a request that leaves the isolate in parts, as the host asks for them. */
export interface OutgoingBody {
  /** In bytes, where it is known. */
  size: number | undefined
  /** Gives the next part; undefined after the last one. */
  next(): Part | Promise<Part>
  /** Why `next` has failed. */
  failure(): { reason: unknown } | undefined
  /** The rest is not needed. */
  cancel(): void
}

/** Makes parts of a content, without a copy of the whole. */
export function inParts(content: string | Bytes | Incoming | ReadableStream<Bytes> | Parts): OutgoingBody {
  if (typeof content === 'string') return { ...ofText(content), ...nothingToRelease }
  if (content instanceof Uint8Array) return { ...ofBytes(content), ...nothingToRelease }
  if (content instanceof Incoming) return ofReader(content.toStream().getReader(), undefined)
  if ('getReader' in content) return ofReader(content.getReader(), undefined)
  const chunks = content[Symbol.asyncIterator]()
  return ofReader({ read: () => chunks.next(), cancel: () => chunks.return?.() }, content.size)
}

const nothingToRelease = { failure: () => undefined, cancel() {} }

function ofText(text: string) {
  let at = 0
  return {
    size: undefined,
    next() {
      if (at === text.length) return undefined
      let end = Math.min(at + partBytes, text.length)
      // The halves of a character are not separated.
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
      const part = text.slice(at, end)
      at = end
      return part
    },
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function ofBytes(bytes: Bytes) {
  let at = 0
  return {
    size: bytes.length,
    next() {
      if (at === bytes.length) return undefined
      // A copy, whose memory is the part alone: the `slice` of a Buffer would share all of it.
      const part = new Uint8Array(bytes.subarray(at, at + partBytes))
      at += part.length
      return part.buffer
    },
  }
}

/** Reads the chunks of a body, in the words of its source. */
interface Reader {
  read(): Promise<{ done?: boolean; value?: unknown }>
  cancel(): Promise<unknown> | undefined
}

function ofReader(reader: Reader, size: number | undefined): OutgoingBody {
  let chunk = ofBytes(new Uint8Array(0))
  let failed: { reason: unknown } | undefined
  return {
    size,
    async next() {
      try {
        for (;;) {
          const part = chunk.next()
          if (part !== undefined) return part
          const { done, value } = await reader.read()
          if (done) return undefined
          if (!(value instanceof Uint8Array)) throw new TypeError('The stream of a body must return Uint8Arrays')
          chunk = ofBytes(value as Bytes)
        }
      } catch (reason) {
        failed = { reason }
        throw reason
      }
    },
    failure: () => failed,
    cancel: () => void reader.cancel()?.catch(() => {}),
  }
}
