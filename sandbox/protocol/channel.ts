import type { Duplex } from 'node:stream'

export interface Channel<Outgoing> {
  send(frame: Outgoing): void
  /** Resolves when the other side has read most of the sent data, or is gone; undefined when there is no backlog. */
  drained(): Promise<void> | undefined
}

export interface ChannelOptions {
  /** Maximum size of an incoming frame. */
  maximumBytes: number
  /** Whether incoming frames must be flat objects of strings and numbers; any other frame violates the protocol. */
  flat?: boolean
  onFrame(frame: unknown, bytes: number): void
  /** The other side is gone, or violates the protocol. Called once; no other event follows. */
  onBroken(reason: string, how: 'gone' | 'breach'): void
}

const headerBytes = 4
/** Bytes that may wait to be written before senders are asked to wait. */
const backlogBytes = 16 * 1024 * 1024
/** Time for incoming frames before other work of this process gets a turn. */
const sliceMilliseconds = 5

/**
 * Opens a channel of length-prefixed JSON over a stream: four bytes of length, little-endian, then as many bytes of
 * UTF-8. Node's own IPC is no alternative: its parent side has no limit on a message and obeys internal ones.
 */
export function openChannel<Outgoing>(stream: Duplex, options: ChannelOptions): Channel<Outgoing> {
  let chunks: Buffer[] = []
  let buffered = 0
  let wanted = headerBytes
  let inHeader = true
  let broken = false
  let draining: PromiseWithResolvers<void> | undefined

  const drain = () => {
    draining?.resolve()
    draining = undefined
  }

  const breakOff = (reason: string, how: 'gone' | 'breach') => {
    if (broken) return
    broken = true
    drain()
    stream.destroy()
    options.onBroken(reason, how)
  }

  const take = (): Buffer => {
    const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    const taken = all.subarray(0, wanted)
    const rest = all.subarray(wanted)
    chunks = rest.length > 0 ? [rest] : []
    buffered = rest.length
    return taken
  }

  const read = () => {
    const end = performance.now() + sliceMilliseconds
    while (buffered >= wanted) {
      if (broken) return
      if (performance.now() > end) return readLater()
      const bytes = take()
      if (inHeader) {
        wanted = bytes.readUInt32LE(0)
        if (wanted > options.maximumBytes) return breakOff(`it sent a frame of ${wanted} bytes`, 'breach')
      } else {
        wanted = headerBytes
        const frame = options.flat === true && !isFlat(bytes) ? undefined : parseFrame(bytes)
        if (frame === undefined) return breakOff('it sent a malformed frame', 'breach')
        options.onFrame(frame, bytes.length)
      }
      inHeader = !inHeader
    }
  }

  const readLater = () => {
    stream.pause()
    setImmediate(() => {
      if (broken) return
      stream.resume()
      read()
    })
  }

  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    buffered += chunk.length
    read()
  })
  stream.on('drain', drain)
  stream.on('error', (error) => breakOff(error.message, 'gone'))
  stream.on('end', () => breakOff('the channel ended', 'gone'))
  stream.on('close', () => breakOff('the channel closed', 'gone'))

  return {
    send(frame) {
      if (broken) return
      const text = JSON.stringify(frame)
      const length = Buffer.byteLength(text)
      const bytes = Buffer.allocUnsafe(headerBytes + length)
      bytes.writeUInt32LE(length, 0)
      bytes.write(text, headerBytes)
      // Frames sent before the event loop reads new input are written together: a write takes longer than making a
      // frame.
      if (stream.writableCorked === 0) {
        stream.cork()
        setImmediate(() => stream.uncork())
      }
      stream.write(bytes)
    },
    drained() {
      if (broken || stream.writableLength <= backlogBytes) return undefined
      draining ??= Promise.withResolvers()
      return draining.promise
    },
  }
}

function parseFrame(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

/** Above the number in any frame. */
const maxFields = 16
/** `"`, `\`, `:`, `{` and `[`. */
const [quote, backslash, colon, brace, bracket] = [0x22, 0x5c, 0x3a, 0x7b, 0x5b]

/**
 * Whether JSON is an object of strings and numbers, if it is valid at all. Parsing a string costs no more than its
 * length; millions of nested arrays, or of fields, would block the reader and take a hundred times their length.
 */
function isFlat(bytes: Buffer): boolean {
  let objects = 0
  let fields = 0
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]
    if (byte === quote) index = endOfText(bytes, index)
    else if (byte === brace) objects += 1
    else if (byte === colon) fields += 1
    if (byte === bracket || objects > 1 || fields > maxFields) return false
  }
  return true
}

/** @param start index of the opening quote */
function endOfText(bytes: Buffer, start: number): number {
  let index = start + 1
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1
  return index
}
