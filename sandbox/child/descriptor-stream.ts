import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { ByteStream } from '../protocol/channel.ts'

const readBytes = 64 * 1024

/**
 * Opens a socket that this process has inherited. Node's streams are JavaScript, which this process interprets: they
 * took more time than the rest of a call. So data is read into one buffer, and bytes are written directly; only what
 * the other side has no room for passes through the stream.
 */
export function openDescriptor(descriptor: number): ByteStream {
  let receive: ((chunk: Buffer) => void) | undefined
  const socket = new Socket({
    fd: descriptor,
    onread: {
      buffer: Buffer.allocUnsafeSlow(readBytes),
      callback: (length, buffer) => {
        receive?.((buffer as Buffer).subarray(0, length))
        return true
      },
    },
  })
  return {
    get writableLength() {
      return socket.writableLength
    },
    write(bytes) {
      let written = 0
      try {
        // Bytes that wait in the stream come first.
        if (socket.writableLength === 0) written = writeSync(descriptor, bytes)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return socket.destroy(error as Error)
      }
      return written === bytes.length || socket.write(bytes.subarray(written))
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    destroy: () => socket.destroy(),
    on(event: string, listener: (given: never) => void) {
      if (event === 'data') receive = listener as (chunk: Buffer) => void
      else socket.on(event, listener as () => void)
    },
  }
}
