import type { Context } from '#shared/context.ts'
import { notFound } from '#shared/errors.ts'
import { toListener, type ChatSignal, type EphemeralSignal } from '#shared/models/signal.ts'
import type { ReadEntry } from '#shared/store/conversation-log.ts'
import type { Connection } from './connection.ts'
import { openFeeds, type Follower } from './feeds.ts'
import { openStreamGuard, type GuardedStream, type Listening } from './stream-guard.ts'

/** Published clients give up after 60 s without a message, browsers' after 45 s without a byte. */
const pingMilliseconds = 25_000
/** A listener that lets this much pile up does not read any more. */
const maxUnreadBytes = 4 * 1024 * 1024

/** A client that does not take the good-bye by then is cut off. */
const goodByeMilliseconds = 2000

export type { Listening }

/** The open streams of this process. */
export interface Realtime {
  /**
   * Lets a client hear a conversation: what it has missed, then what happens.
   *
   * @param accept opens the connection; to clients that means that they hear what happens from then on. Undefined when
   *   the client has gone
   * @throws Error before it is accepted, when that cannot be promised; ApiError when the client may not listen any more
   */
  open(listening: Listening, accept: () => Connection | Promise<Connection | undefined>): Promise<void>
  /** Ends all streams; clients connect again elsewhere. Resolves when none reads any more. */
  close(): Promise<void>
}

export function openRealtime(context: Context): Realtime {
  const feeds = openFeeds(context)
  const guard = openStreamGuard(context)
  const connections = new Set<Connection>()
  const catchingUp = new Set<Promise<void>>()
  let isClosing = false
  return {
    async open(listening, accept) {
      const stream = toStream(listening)
      const { follow, leave } = await feeds.enter(listening, stream)
      const release = () => {
        guard.release(stream)
        leave()
      }
      const connection = await guard
        .admit(stream)
        .then(() => {
          if (stream.isOver()) throw notFound('User', 'the user has just been deleted')
          return accept()
        })
        .catch((error: unknown) => {
          release()
          throw error
        })
      if (!connection || connection.isClosed()) return release()
      const ping = setInterval(() => send(connection, 'ping'), pingMilliseconds)
      connections.add(connection)
      context.metrics.streams.set(connections.size)
      connection.onClose(() => {
        clearInterval(ping)
        connections.delete(connection)
        context.metrics.streams.set(connections.size)
        release()
      })
      stream.connect(connection)
      if (isClosing) return connection.end()
      const caughtUp = follow(new Date(listening.since))
      catchingUp.add(caughtUp)
      try {
        await caughtUp
      } catch (error) {
        context.log.error({ err: error, conversationId: listening.conversationId }, 'Stream failed')
        connection.destroy()
      } finally {
        catchingUp.delete(caughtUp)
      }
    },

    async close() {
      isClosing = true
      feeds.close()
      guard.close()
      for (const connection of connections) connection.end()
      setTimeout(() => {
        for (const connection of connections) connection.destroy()
      }, goodByeMilliseconds).unref()
      await Promise.allSettled(catchingUp)
    },
  }
}

/** A listener's stream. It may come to its end before the client has a connection. */
interface Stream extends Follower, GuardedStream {
  connect(connection: Connection): void
  isOver(): boolean
}

/** Makes a client a follower of a conversation, under the name that the client has for it. */
function toStream(listening: Listening): Stream {
  const { externalId, userId, resumes } = listening
  const startedAt = new Date(listening.startedAt)
  let connection: Connection | undefined
  let isOver = false

  function end(): void {
    isOver = true
    connection?.end()
  }

  return {
    listening,
    end,
    isOver: () => isOver,
    connect(accepted) {
      connection = accepted
      if (isOver) connection.end()
    },
    entry(entry) {
      const { at, signal } = entry
      const isPast = at <= startedAt
      if (signal.type === 'participant_removed' && signal.removedUserId === userId) {
        // Who is taken out of the conversation hears nothing more of it, not even that. Who is back again goes on.
        if (!isPast) end()
        return
      }
      // A client that says something and then listens is to hear it; the rest of the past is for those who come back.
      if (isPast && !resumes && signal.type !== 'message_created') return
      if (connection && !isOver) send(connection, textFor(entry, externalId), String(at.getTime()))
    },
    passing(signal) {
      if (connection && !isOver) send(connection, textOf(signal, externalId))
    },
    gone(goneUserId) {
      if (goneUserId === userId) end()
    },
    ready: async () => connection?.drained(),
    isGone: () => isOver || connection === undefined || connection.isClosed(),
  }
}

/** Texts of entries, by what the listener calls the conversation: all listeners of a conversation get the same few. */
const texts = new WeakMap<ReadEntry, Map<string, string>>()

function textFor(entry: ReadEntry, externalId: string): string {
  let byName = texts.get(entry)
  if (!byName) texts.set(entry, (byName = new Map()))
  let text = byName.get(externalId)
  if (text === undefined) byName.set(externalId, (text = textOf(entry.signal, externalId)))
  return text
}

function textOf(signal: ChatSignal | EphemeralSignal, externalId: string): string {
  return JSON.stringify(toListener(signal, externalId))
}

function send(connection: Connection, text: string, id?: string): void {
  if (connection.unreadBytes() > maxUnreadBytes) connection.destroy()
  else connection.send(text, id)
}
