import { Readable } from 'node:stream'
import type { Deadline } from './deadline.ts'

/** The body of a request that is sent while it is made. It cannot be sent again. */
export interface RequestStream {
  /** In bytes, where it is known. */
  length: number | undefined
  chunks: AsyncIterable<Uint8Array>
}

/** Whether a body is one that is sent while it is made. */
export function isStream(body: string | Uint8Array | RequestStream | undefined): body is RequestStream {
  return typeof body === 'object' && 'chunks' in body
}

/** Sends a body: the time limit applies to each wait for more of it, and to the response. */
export function toReadable({ chunks }: RequestStream, deadline: Deadline): Readable {
  const passing = (async function* () {
    for await (const chunk of chunks) {
      deadline.restart()
      yield chunk
    }
  })()
  // The request fails with an error of its body; without a listener, that would end the process as well.
  return Readable.from(passing, { objectMode: false }).on('error', () => {})
}
