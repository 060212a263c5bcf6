import type { Duplex } from 'node:stream'

export interface Channel<Outgoing> {
  send(frame: Outgoing): void
}

export interface ChannelOptions {
  /** Of an incoming frame. */
  maximumBytes: number
  onFrame(frame: unknown): void
  /** The other side is gone, or does not speak the protocol. Happens once, and nothing after it. */
  onBroken(reason: string): void
}

const headerBytes = 4

/**
 * Speaks length-prefixed JSON over a stream: four bytes of length, little-endian, then so many bytes of UTF-8. Not
 * Node's own IPC, whose parent side has no limit on a message and obeys internal ones.
 */
export function openChannel<Outgoing>(stream: Duplex, options: ChannelOptions): Channel<Outgoing> {
  let chunks: Buffer[] = []
  let buffered = 0
  let wanted = headerBytes
  let inHeader = true
  let broken = false

  const breakOff = (reason: string) => {
    if (broken) return
    broken = true
    stream.destroy()
    options.onBroken(reason)
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
    while (buffered >= wanted) {
      if (broken) return
      const bytes = take()
      if (inHeader) {
        wanted = bytes.readUInt32LE(0)
        if (wanted > options.maximumBytes) return breakOff(`a frame of ${wanted} bytes`)
      } else {
        wanted = headerBytes
        const frame = parseFrame(bytes)
        if (frame === undefined) return breakOff('a frame that is not JSON')
        options.onFrame(frame)
      }
      inHeader = !inHeader
    }
  }

  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    buffered += chunk.length
    read()
  })
  stream.on('error', (error) => breakOff(error.message))
  stream.on('end', () => breakOff('the channel ended'))
  stream.on('close', () => breakOff('the channel closed'))

  return {
    send(frame) {
      if (broken) return
      const text = JSON.stringify(frame)
      const length = Buffer.byteLength(text)
      const bytes = Buffer.allocUnsafe(headerBytes + length)
      bytes.writeUInt32LE(length, 0)
      bytes.write(text, headerBytes)
      // What is sent in one go is written in one go.
      if (stream.writableCorked === 0) {
        stream.cork()
        process.nextTick(() => stream.uncork())
      }
      stream.write(bytes)
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
