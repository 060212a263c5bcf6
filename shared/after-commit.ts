import type { Context } from './context.ts'
import type { ChatEvent } from './models/event.ts'
import type { Message } from './models/message.ts'
import { conversationTopic } from './signals.ts'

/** What listeners of a conversation are told, exactly as published clients parse it. */
export type ChatSignal =
  | { type: 'message_created'; data: Message & { isBot: boolean } }
  | { type: 'event_created'; data: ChatEvent & { isBot: boolean } }
  | { type: 'message_deleted'; data: { id: string; conversationId: string; userId: string } }
  | { type: 'participant_added'; data: Participation }
  /** `removedUserId` is for the streams' door, which ends those of that user, and goes no further. */
  | { type: 'participant_removed'; data: Participation; removedUserId: string }

interface Participation {
  conversationId: string
  participantId: string
}

/**
 * Tells a conversation's listeners, once it is committed. A signal that cannot be sent is logged and not an error: what
 * it tells of is stored, and clients list it.
 *
 * @param conversationId the conversation's own id; `signal.data.conversationId` is what clients call it
 */
export async function tellListeners(context: Context, conversationId: string, signal: ChatSignal): Promise<void> {
  try {
    await context.signals.publish(conversationTopic(conversationId), signal)
  } catch (error) {
    context.log.error({ err: error, conversationId, type: signal.type }, 'A signal could not be published')
  }
}

/**
 * Wakes a worker for an event that is committed. A wake-up that fails is logged and not an error: the event is stored,
 * and the sweep finds it.
 */
export async function wakeWorker(context: Context, name: 'message' | 'event', mailbox: string): Promise<void> {
  try {
    await context.queue.wake(name, mailbox)
  } catch (error) {
    context.log.error({ err: error, mailbox }, 'A worker could not be woken; the sweep will')
  }
}
