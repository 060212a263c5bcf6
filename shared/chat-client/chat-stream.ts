import { createParser } from 'eventsource-parser'
import { readError } from './chat-error.ts'

/** A message of a conversation, as the Chat API shows it. */
export interface ChatMessage {
  id: string
  createdAt: string
  payload: { type: string; [field: string]: unknown }
  userId: string
  conversationId: string
  metadata?: Record<string, unknown>
}

/** A signal of a conversation's stream; only those that the console and the command line show. */
export type ChatSignal =
  | { type: 'message_created'; data: ChatMessage }
  | { type: 'message_deleted'; data: { id: string } }
  | { type: 'message_stream_delta'; data: { streamId: string; createdAt: string; delta: string } }
  | { type: 'message_stream_complete'; data: { streamId: string; message: ChatMessage } }
  | { type: 'message_stream_abort'; data: { streamId: string } }

/** An open stream of a conversation. */
export interface ChatStream {
  /** Resolves when the stream has ended, for any reason. */
  readonly ended: Promise<void>
  close(): void
}

/** The platform sends a `ping` every 25 s: a stream that is silent for longer is broken. */
const silenceMilliseconds = 60_000

/**
 * Opens the stream of a conversation. It does not reconnect.
 *
 * @param signal ends the attempt, or the stream that it has opened
 * @throws ChatError when the platform refuses it, another Error when the platform is unavailable
 */
export async function openChatStream(
  url: string,
  userKey: string,
  receive: (signal: ChatSignal) => void,
  signal?: AbortSignal,
): Promise<ChatStream> {
  const closing = new AbortController()
  const close = () => closing.abort()
  signal?.throwIfAborted()
  signal?.addEventListener('abort', close, { once: true })
  let watchdog = setTimeout(close, silenceMilliseconds)
  const watch = () => {
    clearTimeout(watchdog)
    watchdog = setTimeout(close, silenceMilliseconds)
  }
  const parser = createParser({
    onEvent({ data }) {
      if (data.startsWith('{')) receive(JSON.parse(data) as ChatSignal)
    },
  })
  try {
    const headers = { accept: 'text/event-stream', 'x-user-key': userKey }
    const response = await fetch(url, { headers, cache: 'no-store', signal: closing.signal })
    if (!response.ok || !response.body) throw await readError(response)
    const ended = read(response.body, (text) => {
      watch()
      parser.feed(text)
    }).finally(() => {
      clearTimeout(watchdog)
      close()
    })
    return { ended, close }
  } catch (error) {
    clearTimeout(watchdog)
    throw error
  }
}

/** Reads text to its end. A broken connection counts as the end. */
async function read(body: ReadableStream<Uint8Array<ArrayBuffer>>, feed: (text: string) => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  while (true) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: '' }) as const)
    if (done) return
    feed(value)
  }
}
