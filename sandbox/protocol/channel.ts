/** The part of a stream that a channel uses. A chunk of data is valid only while its listener runs. */
export interface ByteStream {
  readonly writableLength: number
  /** Writes bytes, which the caller does not change. */
  write(bytes: Uint8Array): unknown
  pause(): unknown
  resume(): unknown
  destroy(): unknown
  on(event: 'data', listener: (chunk: Buffer) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'drain' | 'end' | 'close', listener: () => void): unknown
}

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
  /**
   * Whether the first frame that is sent in a turn of the event loop is written at once. Otherwise it is written with
   * those that follow it.
   */
  writesFirst?: boolean
  onFrame(frame: unknown, bytes: number): void
  /** The other side is gone, or violates the protocol. Called once; no other event follows. */
  onBroken(reason: string, how: 'gone' | 'breach'): void
}

const headerBytes = 4
/** Bytes that may wait to be written before senders are asked to wait. */
const backlogBytes = 16 * 1024 * 1024
/** Time for incoming frames before other work of this process gets a turn. */
const sliceMilliseconds = 5
/** Frames are joined into one write up to this size. */
const joinedBytes = 64 * 1024
/** Of UTF-8, for a character. */
const maxCharacterBytes = 3

/**
 * Opens a channel of length-prefixed JSON over a stream: four bytes of length, little-endian, then as many bytes of
 * UTF-8. Node's own IPC is no alternative: its parent side has no limit on a message and obeys internal ones.
 */
export function openChannel<Outgoing>(stream: ByteStream, options: ChannelOptions): Channel<Outgoing> {
  /** The parts of an incomplete frame that have arrived. */
  let chunks: Buffer[] = []
  let buffered = 0
  /** Bytes without which `chunks` hold no frame. */
  let wanted = headerBytes
  let broken = false
  let draining: PromiseWithResolvers<void> | undefined
  const outgoing = joinFrames((bytes) => stream.write(bytes))
  let isTurnNoted = false

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

  const keep = (rest: Buffer) => {
    chunks.push(rest)
    buffered += rest.length
  }

  const read = (bytes: Buffer) => {
    const deadline = performance.now() + sliceMilliseconds
    let start = 0
    for (;;) {
      const available = bytes.length - start
      wanted = headerBytes
      if (available >= headerBytes) {
        const length = bytes.readUInt32LE(start)
        if (length > options.maximumBytes) return breakOff(`it sent a frame of ${length} bytes`, 'breach')
        wanted += length
      }
      if (available < wanted) return available > 0 && keep(Buffer.from(bytes.subarray(start)))
      const end = start + wanted
      start += headerBytes
      const frame = options.flat === true && !isFlat(bytes, start, end) ? undefined : parseFrame(bytes, start, end)
      if (frame === undefined) return breakOff('it sent a malformed frame', 'breach')
      options.onFrame(frame, end - start)
      if (broken) return
      start = end
      if (start === bytes.length) return void (wanted = headerBytes)
      if (performance.now() > deadline) return readLater(Buffer.from(bytes.subarray(start)))
    }
  }

  const readKept = () => {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    chunks = []
    buffered = 0
    read(bytes)
  }

  const readLater = (rest: Buffer) => {
    keep(rest)
    stream.pause()
    setImmediate(() => {
      if (broken) return
      stream.resume()
      readKept()
    })
  }

  stream.on('data', (chunk) => {
    if (broken) return
    if (buffered === 0) return read(chunk)
    keep(Buffer.from(chunk))
    if (buffered >= wanted) readKept()
  })
  stream.on('drain', drain)
  stream.on('error', (error) => breakOff(error.message, 'gone'))
  stream.on('end', () => breakOff('the channel ended', 'gone'))
  stream.on('close', () => breakOff('the channel closed', 'gone'))

  const writeRest = () => {
    isTurnNoted = false
    if (!broken) outgoing.write()
  }

  return {
    send(frame) {
      if (broken) return
      outgoing.add(JSON.stringify(frame))
      if (isTurnNoted) return
      isTurnNoted = true
      // Frames sent before the event loop reads new input are written together: a write takes longer than making a
      // frame.
      setImmediate(writeRest)
      if (options.writesFirst === true) outgoing.write()
    },
    drained() {
      if (broken || stream.writableLength <= backlogBytes) return undefined
      draining ??= Promise.withResolvers()
      return draining.promise
    },
  }
}

interface JoinedFrames {
  add(text: string): void
  /** Writes what has been added since the last write. */
  write(): void
}

/** Joins frames in one buffer, which is faster than a buffer for each. */
function joinFrames(writeBytes: (bytes: Uint8Array) => void): JoinedFrames {
  const joined = Buffer.allocUnsafeSlow(joinedBytes)
  let used = 0

  const write = () => {
    if (used === 0) return
    const bytes = Buffer.from(joined.subarray(0, used))
    used = 0
    writeBytes(bytes)
  }

  return {
    add(text) {
      const maxBytes = headerBytes + text.length * maxCharacterBytes
      if (used + maxBytes > joinedBytes) write()
      if (maxBytes <= joinedBytes) return void (used = addTo(joined, used, text))
      const bytes = Buffer.allocUnsafe(headerBytes + Buffer.byteLength(text))
      addTo(bytes, 0, text)
      writeBytes(bytes)
    },
    write,
  }
}

/** Writes a frame; returns the position after it. */
function addTo(bytes: Buffer, position: number, text: string): number {
  const length = bytes.write(text, position + headerBytes)
  bytes.writeUInt32LE(length, position)
  return position + headerBytes + length
}

function parseFrame(bytes: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as unknown
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
function isFlat(bytes: Buffer, start: number, end: number): boolean {
  let objects = 0
  let fields = 0
  for (let index = start; index < end; index += 1) {
    const byte = bytes[index]
    if (byte === quote) index = endOfText(bytes, index, end)
    else if (byte === brace) objects += 1
    else if (byte === colon) fields += 1
    if (byte === bracket || objects > 1 || fields > maxFields) return false
  }
  return true
}

/** @param start index of the opening quote */
function endOfText(bytes: Buffer, start: number, end: number): number {
  let index = start + 1
  while (index < end && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1
  return index
}
