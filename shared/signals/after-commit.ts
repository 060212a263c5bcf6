import type { Context } from '../context.ts'
import type { ChatSignal, EphemeralSignal } from '../models/signal.ts'
import type { WakeName } from '../queue/queue.ts'
import type { InboxLine } from '../models/inbox-line.ts'
import { conversationTopic, inboxTopic, outcomeTopic } from './signals.ts'
import type { LogEntry } from '../store/conversation-log.ts'

/** The run that published a signal. */
export interface RunOfSignal {
  eventId: string
  attempt: number
}

/** The payload of a signal on a conversation's topic. */
export type Announcement =
  /** A new entry of the conversation's log, with its position. */
  | { sequence: number; at: number; signal: ChatSignal }
  /** A signal that is not stored and is not an entry of the log; `run` is that of a part of a message. */
  | { passing: EphemeralSignal; run?: RunOfSignal }
  /** A hint that the log may have entries whose signals were lost. */
  | { look: true }
  /** The id of a user who was deleted. */
  | { goneUserId: string }

/**
 * Publishes an entry of a conversation's log to its listeners, after the commit. A failure is logged and not thrown:
 * the entry is stored, and listeners read the log when signals can be published again.
 */
export async function publishEntry(context: Context, entry: LogEntry, signal: ChatSignal): Promise<void> {
  const { conversationId, sequence, at } = entry
  await announce(context, conversationId, { sequence, at: at.getTime(), signal })
  await wakeWebhook(context, entry)
}

/** Wakes a worker for the conversation's webhook, if there is one, after the commit of an entry. */
export async function wakeWebhook(context: Context, { botId, conversationId, hasWebhook }: LogEntry): Promise<void> {
  if (hasWebhook) await wakeWorker(context, 'webhook', conversationId, botId)
}

/** Makes a conversation's listeners read the log, because signals of new entries may have been lost. */
export async function publishHint(context: Context, conversationId: string): Promise<void> {
  await announce(context, conversationId, { look: true })
}

/** Ends the streams of a user who was deleted, in the conversations that the user took part in. */
export async function endStreams(context: Context, userId: string, conversationIds: string[]): Promise<void> {
  await Promise.all(conversationIds.map((id) => announce(context, id, { goneUserId: userId })))
}

/**
 * Publishes a signal that is not stored to a conversation's listeners.
 * @throws Error when publishing fails, since no row can replace the signal
 */
export async function publishEphemeral(
  { signals }: Context,
  conversationId: string,
  passing: EphemeralSignal,
  run?: RunOfSignal,
): Promise<void> {
  const announcement: Announcement = { passing, ...(run && { run }) }
  await signals.publish(conversationTopic(conversationId), announcement)
}

/**
 * Publishes that a handover has changed to a conversation's open web chats, after the commit. A failure is logged and not
 * thrown: a web chat reads the row when it connects.
 */
export async function publishHandover(context: Context, conversationId: string, handoverId: string): Promise<void> {
  await announce(context, conversationId, {
    passing: { type: 'handover_changed', data: { conversationId, handoverId } },
  })
}

async function announce(context: Context, conversationId: string, announcement: Announcement): Promise<void> {
  try {
    await context.signals.publish(conversationTopic(conversationId), announcement)
  } catch (error) {
    logUnpublished(context, error, { conversationId }, 'Publishing a signal failed')
  }
}

/**
 * Wakes a worker for committed rows: an event in a mailbox, or entries that wait for a conversation's webhook. A failed
 * wake-up is logged and not thrown: the queue repeats it, and the sweep finds the rows.
 */
export async function wakeWorker(context: Context, name: WakeName, mailbox: string, botId: string): Promise<void> {
  try {
    await context.queue.wake(name, mailbox, botId)
  } catch (error) {
    logUnpublished(context, error, { mailbox }, 'Waking a worker failed; retrying')
  }
}

/**
 * Publishes that an outcome is stored. A failure is logged and not thrown: processes that wait for it also poll the
 * row.
 */
export async function publishOutcome(context: Context, id: string): Promise<void> {
  try {
    await context.signals.publish(outcomeTopic(id), {})
  } catch (error) {
    logUnpublished(context, error, { id }, 'Publishing an outcome failed')
  }
}

/**
 * Publishes a line to the open inboxes of a workspace, after the commit. A failure is logged and not thrown: the lines are
 * hints, and inboxes read the rows from time to time.
 */
export async function publishToInboxes(context: Context, workspaceId: string, line: InboxLine): Promise<void> {
  try {
    await context.signals.publish(inboxTopic(workspaceId), line)
  } catch (error) {
    logUnpublished(context, error, { workspaceId }, 'Publishing to inboxes failed')
  }
}

/**
 * Logs a signal or a wake-up that failed after its commit, at debug level while the broker is unavailable: the outage itself
 * is logged once, by the dependency monitor.
 */
export function logUnpublished({ log, dependencies }: Context, error: unknown, what: object, message: string): void {
  log[dependencies.broker.isUp() ? 'error' : 'debug']({ err: error, ...what }, message)
}
