import type { Listening } from './stream-guard.ts'
import type { Message } from '#shared/models/message.ts'
import { type ChatSignal, type EphemeralSignal } from '#shared/models/signal.ts'
import { toWebchatMessage } from '#shared/models/webchat.ts'

/** A frame of the web chat's stream. */
export interface WebchatFrame {
  type: string
  data: Record<string, unknown>
}

/** Reads what signals only name. Undefined when it is gone. */
export interface WebchatSource {
  participant(participantId: string): Promise<object | undefined>
  handover(handoverId: string): Promise<object | undefined>
}

/** Turns the signals of a conversation into frames for one visitor. */
export interface WebchatFrames {
  entry(signal: ChatSignal): void
  passing(signal: EphemeralSignal): void
  close(): void
}

/** Interval of the updates of a message that is being written: each has the whole text. */
const updateMilliseconds = 100

/** Streams are numbered from 0 or 1: a visitor who comes later gets the finished message. */
const lastFirst = 1
/** The web chat shows for 5 seconds that the bot writes. */
const hintMilliseconds = 3000
/** Messages that are written at the same time; of further ones the visitor gets the finished message. */
const maxWritings = 20

interface Writing {
  message: Message
  text: string
  sequence: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Opens the frames of one stream. A message stream becomes a message that is updated; its `clientMessageId` is the id of
 * the stream, by which the published web chat puts the finished message in its place.
 *
 * @param userId of the visitor, as clients know it
 */
export function openWebchatFrames(
  { userId, conversationId }: Pick<Listening, 'userId' | 'conversationId'>,
  source: WebchatSource,
  send: (frame: WebchatFrame) => void,
): WebchatFrames {
  const writings = new Map<string, Writing>()
  let hintedAt = -Infinity
  /** The stream whose message was finished last: a part of it may still be on its way. */
  let lastFinished: string | undefined

  function finish(streamId: string): void {
    clearTimeout(writings.get(streamId)?.timer)
    writings.delete(streamId)
  }

  function created({ isBot: _isBot, ...message }: Extract<ChatSignal, { type: 'message_created' }>['data']): void {
    const { clientMessageId, streamId } = message.metadata ?? {}
    if (message.userId === userId && typeof clientMessageId === 'string') {
      // The published web chat shows a message as delivered only by this, and only before the message itself.
      send({ type: 'message_status_changed', data: { message: toWebchatMessage(message), newStatus: 'processing' } })
    }
    if (typeof streamId === 'string') lastFinished = streamId
    if (typeof streamId !== 'string' || !writings.has(streamId)) {
      return send({ type: 'message_created', data: toWebchatMessage(message) })
    }
    finish(streamId)
    const metadata = { ...message.metadata, clientMessageId: streamId }
    send({ type: 'message_updated', data: toWebchatMessage({ ...message, metadata }) })
  }

  function begin({ streamId, userId: authorId, createdAt, sequence, delta }: Delta): void {
    const metadata = { streamId, clientMessageId: streamId }
    const message = { id: streamId, createdAt, payload: {}, userId: authorId, conversationId, metadata }
    const writing: Writing = { message, text: delta, sequence, timer: undefined }
    writings.set(streamId, writing)
    show('message_created', writing)
  }

  function show(type: string, { message, text }: Writing): void {
    // An empty text is none that the web chat can show.
    if (text !== '') send({ type, data: { ...message, payload: { type: 'text', text } } })
  }

  function grow(writing: Writing, { sequence, delta }: Delta): void {
    // After a lost part the rest would be misleading: the finished message follows.
    if (sequence !== writing.sequence + 1) return
    writing.sequence = sequence
    writing.text += delta
    writing.timer ??= setTimeout(() => {
      writing.timer = undefined
      show('message_updated', writing)
    }, updateMilliseconds)
  }

  /** Shows that the bot writes a message that the visitor does not see grow, such as one that began before a reload. */
  function hint(): void {
    const now = performance.now()
    if (now - hintedAt < hintMilliseconds) return
    hintedAt = now
    send({ type: 'typing_started', data: {} })
  }

  async function sendFound(type: string, field: string, reading: Promise<object | undefined>): Promise<void> {
    const found = await reading
    if (found) send({ type, data: { [field]: found } })
  }

  return {
    entry(signal) {
      if (signal.type === 'message_created') created(signal.data)
      else if (signal.type === 'message_updated') {
        const { isBot: _isBot, ...message } = signal.data
        send({ type: 'message_updated', data: toWebchatMessage(message) })
      } else if (signal.type === 'message_deleted') {
        // The published web chat ignores it, and shows the message until it is loaded anew.
        send({ type: 'message_deleted', data: { id: signal.data.id } })
      } else if (signal.type === 'event_created' && signal.data.isBot) {
        send({ type: 'custom', data: { event: signal.data.payload } })
      } else if (signal.type === 'participant_added') {
        void sendFound('participant_added', 'participant', source.participant(signal.data.participantId))
      } else if (signal.type === 'participant_removed') {
        send({ type: 'participant_removed', data: { participantId: signal.data.participantId } })
      }
    },
    passing(signal) {
      if (signal.type === 'message_stream_delta') {
        const { streamId, sequence } = signal.data
        const writing = writings.get(streamId)
        if (writing) grow(writing, signal.data)
        else if (streamId === lastFinished) return
        else if (sequence <= lastFirst && writings.size < maxWritings) begin(signal.data)
        else hint()
      } else if (signal.type === 'message_stream_abort') {
        const writing = writings.get(signal.data.streamId)
        if (writing?.timer) show('message_updated', writing)
        else if (!writing && hintedAt > 0) send({ type: 'typing_stopped', data: {} })
        finish(signal.data.streamId)
      } else if (signal.type === 'handover_changed') {
        void sendFound('handover_changed', 'handover', source.handover(signal.data.handoverId))
      } else if (signal.type !== 'message_stream_complete') {
        const { conversationId: _conversationId, ...data } = signal.data
        send({ type: signal.type, data })
      }
    },
    close() {
      for (const streamId of writings.keys()) finish(streamId)
    },
  }
}

type Delta = Extract<EphemeralSignal, { type: 'message_stream_delta' }>['data']
