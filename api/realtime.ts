import type { Response } from 'express'
import type { ChatSignal } from '#shared/after-commit.ts'
import type { Context } from '#shared/context.ts'
import { conversationTopic } from '#shared/signals.ts'

/** Published clients give up after 60 s without a message event, browsers' after 45 s without a byte. */
const pingMilliseconds = 25_000
/** A listener that lets this much pile up does not read any more. */
const mostUnreadBytes = 4 * 1024 * 1024
/** How many signals back a repeated one is recognised. */
const rememberedSignals = 256

/** What `listenConversation` answers with. */
export interface Listening {
  conversationId: string
  /** What the listener calls the conversation. */
  knownId: string
  /** The listener's own id. */
  userId: string
}

/** The open streams of this process. */
export interface Realtime {
  /** Turns a response into a stream of a conversation's signals. */
  open(response: Response, listening: Listening): Promise<void>
  /** Ends all streams; clients connect again elsewhere. */
  close(): void
}

export function createRealtime({ signals, log }: Context): Realtime {
  const streams = new Set<Response>()
  return {
    async open(response, listening) {
      const { conversationId } = listening
      response.set({
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-cache, no-transform',
        'X-Accel-Buffering': 'no',
      })
      response.on('error', (error) => log.debug({ err: error }, 'A stream broke'))
      const forward = forwarder(response, listening)
      const unsubscribe = await signals.subscribe(conversationTopic(conversationId), (signal) => {
        forward(signal as ChatSignal)
      })
      // The listener may have left meanwhile.
      if (response.closed) return unsubscribe()
      const ping = setInterval(() => send(response, 'ping'), pingMilliseconds)
      streams.add(response)
      response.on('close', () => {
        clearInterval(ping)
        unsubscribe()
        streams.delete(response)
      })
      // To clients the headers mean that whatever is said from now on will be heard.
      response.flushHeaders()
    },

    close() {
      for (const response of streams) response.end()
    },
  }
}

/** Writes signals to one listener: under the conversation id that the listener used, and each of them once. */
function forwarder(response: Response, { knownId, userId }: Listening): (signal: ChatSignal) => void {
  const seen = new Set<string>()
  return (signal) => {
    // Who is taken out of the conversation hears nothing more of it, not even that.
    if (signal.type === 'participant_removed' && signal.removedUserId === userId) return void response.end()
    if ('id' in signal.data) {
      // A run that is repeated after a crash tells of its messages again.
      const identity = `${signal.type} ${signal.data.id}`
      if (seen.has(identity)) return
      seen.add(identity)
      if (seen.size > rememberedSignals) for (const oldest of seen.values().take(1)) seen.delete(oldest)
    }
    const { type, data } = signal
    send(response, JSON.stringify({ type, data: { ...data, conversationId: knownId } }))
  }
}

function send(response: Response, data: string): void {
  if (response.writableEnded) return
  if (response.writableLength > mostUnreadBytes) {
    response.destroy()
    return
  }
  response.write(`event: message\ndata: ${data}\n\n`)
}
