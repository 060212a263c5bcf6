import { closedObject, type Infer } from '../schema.ts'
import type { EphemeralSignal } from './signal.ts'

/** A line of the stream that an open transcript follows. It says that rows have changed, and has the parts of streamed messages. */
export const conversationLine = closedObject(
  {
    type: {
      enum: ['ready', 'ping', 'change', 'message_stream_delta', 'message_stream_complete', 'message_stream_abort'],
      description:
        '`ready` is the first one. `change`: the messages, the participants or the handover have changed, or an event has ' +
        'failed. The others are those of the Chat API: a part of a message that the bot is writing, and its end.',
    },
  },
  {
    streamId: { type: 'string' },
    sequence: { type: 'integer', description: 'The number of the part; parts before the first line are lost.' },
    delta: { type: 'string', description: 'The part.' },
    createdAt: { type: 'string', format: 'date-time' },
    messageId: { type: 'string', description: 'The message that the stream has become.' },
  },
)

export type ConversationLine = Infer<typeof conversationLine>

/** The line of a signal that is not stored; undefined for those of typing, which the member's own client causes too. */
export function toConversationLine({ type, data }: EphemeralSignal): ConversationLine | undefined {
  switch (type) {
    case 'message_stream_delta': {
      const { streamId, sequence, delta, createdAt } = data
      return { type, streamId, sequence, delta, createdAt }
    }
    case 'message_stream_complete':
      return { type, streamId: data.streamId, messageId: data.message.id }
    case 'message_stream_abort':
      return { type, streamId: data.streamId }
    case 'handover_changed':
      return { type: 'change' }
    default:
      return undefined
  }
}
