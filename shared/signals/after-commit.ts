import type { Context } from '../context.ts'
import type { ChatSignal, EphemeralSignal } from '../models/signal.ts'
import type { WakeName } from '../queue/queue.ts'
import { conversationTopic, outcomeTopic } from './signals.ts'
import type { LogEntry } from '../store/conversation-log.ts'

/** What the processes tell each other of a conversation. */
export type Announcement =
  /** A new entry of its log, with its place. */
  | { sequence: number; at: number; signal: ChatSignal }
  /** What is no entry, and of use only now. */
  | { passing: EphemeralSignal }
  /** There may be entries that were not announced. */
  | { look: true }
  /** A user is no more, by its id. */
  | { goneUserId: string }

/**
 * Tells a conversation's listeners of an entry of its log, once it is committed. An announcement that cannot be made is
 * logged and not an error: the entry is stored, and listeners find it when they look.
 */
export async function publishEntry(context: Context, entry: LogEntry, signal: ChatSignal): Promise<void> {
  const { botId, conversationId, sequence, at, hasWebhook } = entry
  await announce(context, conversationId, { sequence, at: at.getTime(), signal })
  if (hasWebhook) await wakeWorker(context, 'webhook', conversationId, botId)
}

/** Has a conversation's listeners look for entries that may not have been announced. */
export async function publishHint(context: Context, conversationId: string): Promise<void> {
  await announce(context, conversationId, { look: true })
}

/** Ends the streams of a user who was deleted, in the conversations that the user took part in. */
export async function endStreams(context: Context, userId: string, conversationIds: string[]): Promise<void> {
  await Promise.all(conversationIds.map((id) => announce(context, id, { goneUserId: userId })))
}

/**
 * Tells a conversation's listeners something that is not stored.
 * @throws Error when it cannot be told: nothing else will
 */
export async function publishEphemeral(
  { signals }: Context,
  conversationId: string,
  passing: EphemeralSignal,
): Promise<void> {
  const announcement: Announcement = { passing }
  await signals.publish(conversationTopic(conversationId), announcement)
}

async function announce(context: Context, conversationId: string, announcement: Announcement): Promise<void> {
  try {
    await context.signals.publish(conversationTopic(conversationId), announcement)
  } catch (error) {
    logUnpublished(context, error, { conversationId }, 'Publishing a signal failed')
  }
}

/**
 * Wakes a worker for what is committed: an event in a mailbox, or a conversation's entries that its webhook waits for.
 * A wake-up that fails is logged and not an error: what has to be done is stored, and the sweep finds it.
 */
export async function wakeWorker(context: Context, name: WakeName, mailbox: string, botId: string): Promise<void> {
  try {
    await context.queue.wake(name, mailbox, botId)
  } catch (error) {
    logUnpublished(context, error, { mailbox }, 'Waking a worker failed; the sweep will wake one')
  }
}

/** Tells who waits for an outcome that it is there. One that cannot be told is logged: they look themselves, too. */
export async function publishOutcome(context: Context, id: string): Promise<void> {
  try {
    await context.signals.publish(outcomeTopic(id), {})
  } catch (error) {
    logUnpublished(context, error, { id }, 'Publishing an outcome failed')
  }
}

/** Of what is known to be away there is nothing to say each time. */
function logUnpublished({ log, dependencies }: Context, error: unknown, what: object, message: string): void {
  log[dependencies.broker.isUp() ? 'error' : 'debug']({ err: error, ...what }, message)
}
