import type { Writable } from 'stream'
import stream from 'readable-stream/lib/stream.js'
import promises from 'readable-stream/lib/stream/promises.js'
import { duplexPair } from '../duplex-pair.ts'
import { readLegacyStream, type LegacyStream } from '../legacy-stream.ts'
import { complete, type Provide } from '../provide.ts'
import {
  duplexFromWeb,
  duplexToWeb,
  nodeStreamOf,
  readableFromWeb,
  readableToWeb,
  tellEnds,
  writableFromWeb,
  writableToWeb,
} from '../web-adapters.ts'

export const provide: Provide = (_platform, shapes) => ({
  stream: () => complete('stream', streamModule(), shapes['stream']),
  'stream/promises'() {
    streamModule()
    return complete('stream/promises', promises, shapes['stream/promises'])
  },
  'stream/consumers': () => complete('stream/consumers', consumers, shapes['stream/consumers']),
})

let completed: typeof stream | undefined

/** Adds what the library lacks of Node's streams. */
function streamModule(): typeof stream {
  if (completed) return completed
  completed = stream
  tellEnds()
  const { Readable, Writable, Duplex, Stream } = stream
  // Forms of libraries are streams of Node's first version, which cannot be iterated; `fetch` reads them so.
  addTo(Stream.prototype, { [Symbol.asyncIterator]: iterate })
  addTo(Writable.prototype, { [Symbol.asyncDispose]: disposeWritable })
  Object.assign(Readable, { fromWeb: readableFromWeb, toWeb: readableToWeb })
  Object.assign(Writable, { fromWeb: writableFromWeb, toWeb: writableToWeb })
  Object.assign(Duplex, { fromWeb: duplexFromWeb, toWeb: duplexToWeb })
  // The library asks these functions whether a chunk has bytes, and takes only a Uint8Array.
  Object.assign(Stream, { _isUint8Array: ArrayBuffer.isView, _uint8ArrayToBuffer: bufferOf })
  const { pipeline, compose } = stream as typeof stream & { compose: unknown }
  const custom = Object.getOwnPropertyDescriptors(pipeline)
  const own = {
    pipeline: Object.defineProperties(takingWebStreams(pipeline), custom),
    compose: takingWebStreams(compose),
  }
  Object.assign(promises, { pipeline: takingWebStreams(promises.pipeline) })
  return Object.assign(stream, own, { duplexPair })
}

function addTo(prototype: object, methods: Record<PropertyKey, unknown>): void {
  for (const key of Reflect.ownKeys(methods)) {
    Object.defineProperty(prototype, key, { value: methods[key as string], writable: true, configurable: true })
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: ArrayBufferView<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

type Join = (...streams: unknown[]) => unknown

/** The library waits for a property of Node's own streams of the web, which others do not have. */
function takingWebStreams(join: unknown): Join {
  return (...streams) =>
    (join as Join)(...streams.map((value) => (Array.isArray(value) ? value.map(nodeStreamOf) : nodeStreamOf(value))))
}

async function disposeWritable(this: Writable): Promise<void> {
  if (!this.destroyed) {
    const error = Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' })
    this.destroy(this.writableFinished ? undefined : error)
  }
  await promises.finished(this).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error
  })
}

function iterate(this: LegacyStream): AsyncGenerator<Uint8Array> {
  return readLegacyStream(this)
}

type Source = AsyncIterable<unknown>

async function buffer(source: Source): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of source) parts.push(bytesOf(part))
  return Buffer.concat(parts)
}

function bytesOf(part: unknown): Uint8Array {
  if (ArrayBuffer.isView(part)) return bufferOf(part as ArrayBufferView<ArrayBuffer>)
  return part instanceof ArrayBuffer ? new Uint8Array(part) : Buffer.from(String(part))
}

const text = async (source: Source) => new TextDecoder().decode(await buffer(source))

const arrayBuffer = async (source: Source) => new Uint8Array(await buffer(source)).buffer

const consumers = {
  arrayBuffer,
  buffer,
  bytes: async (source: Source) => new Uint8Array(await buffer(source)),
  text,
  blob: async (source: Source) => new Blob([await arrayBuffer(source)]),
  json: async (source: Source) => JSON.parse(await text(source)) as unknown,
}
