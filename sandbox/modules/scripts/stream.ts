import stream from 'readable-stream/lib/stream.js'
import promises from 'readable-stream/lib/stream/promises.js'
import { readLegacyStream, type LegacyStream } from '../legacy-stream.ts'
import { complete, type Provide } from '../provide.ts'

export const provide: Provide = (_platform, shapes) => ({
  stream: () => complete('stream', streamModule(), shapes['stream']),
  'stream/promises': () => complete('stream/promises', promises, shapes['stream/promises']),
  'stream/consumers': () => complete('stream/consumers', consumers, shapes['stream/consumers']),
})

/** Forms of libraries are streams of Node's first version, which cannot be iterated; `fetch` reads them so. */
function streamModule(): typeof stream {
  const { prototype } = stream.Stream as unknown as { prototype: object }
  Object.defineProperty(prototype, Symbol.asyncIterator, { value: iterate, writable: true, configurable: true })
  return stream
}

function iterate(this: LegacyStream): AsyncGenerator<Uint8Array> {
  return readLegacyStream(this)
}

type Source = AsyncIterable<Uint8Array | string>

async function buffer(source: Source): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of source) parts.push(Buffer.from(part as Uint8Array))
  return Buffer.concat(parts)
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
