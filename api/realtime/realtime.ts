import type { Context } from '#shared/context.ts'
import { notFound } from '#shared/errors.ts'
import { isWebchatSignal, toListener, type ChatSignal, type EphemeralSignal } from '#shared/models/signal.ts'
import type { ReadEntry } from '#shared/store/conversation-log.ts'
import type { Connection } from './connection.ts'
import { openFeeds, type Follower } from './feeds.ts'
import { NewestStreams } from './newest-streams.ts'
import { UnreadBytes } from './unread-bytes.ts'
import { openWebchatFrames } from './webchat-frames.ts'
import { webchatSource } from './webchat-source.ts'
import { openStreamGuard, type GuardedStream, type Listening } from './stream-guard.ts'

/** Published clients give up after 60 s without a message, browsers' after 45 s without a byte. */
const pingMilliseconds = 25_000
/** A client with more unread bytes is taken to have stopped reading. */
const maxUnreadBytes = 4 * 1024 * 1024

/** Connections that are still open this long after `close` are destroyed. */
const closeMilliseconds = 2000

export type { Listening }

/** The open streams of this process. */
export interface Realtime {
  /**
   * Streams a conversation to a client: the entries that it has missed, then new ones.
   *
   * @param accept opens the connection, from which on clients expect to receive each entry; undefined when the client
   *   has disconnected
   * @throws Error before `accept`, when the feed cannot be opened; ApiError when the client may no longer listen
   */
  open(listening: Listening, accept: () => Connection | Promise<Connection | undefined>): Promise<void>
  /** Ends all streams; clients reconnect to other processes. Resolves when no stream reads the log. */
  close(): Promise<void>
}

/** @param unread counts the unread bytes of the streams */
export function openRealtime(context: Context, unread = new UnreadBytes()): Realtime {
  const feeds = openFeeds(context)
  const guard = openStreamGuard(context)
  const connections = new Set<Connection>()
  const newest = new NewestStreams()
  const send = (connection: Connection, text: string, id?: string) => {
    if (connection.unreadBytes() > maxUnreadBytes) {
      if (!connection.isClosed()) context.metrics.unreadDisconnects.inc({ of: 'stream' })
      return connection.destroy()
    }
    connection.send(text, id)
    const ended = unread.sent(connection)
    if (ended > 0) context.metrics.unreadDisconnects.inc({ of: 'streams' }, ended)
  }
  context.metrics.gauge({
    name: 'unread_stream_bytes',
    help: 'Bytes of streams that their clients have not read, of those with many',
    read: () => [[{}, unread.total]],
  })
  const catchingUp = new Set<Promise<void>>()
  let isClosing = false
  return {
    async open(listening, accept) {
      const stream = toStream(context, listening, send)
      const listener = `${listening.conversationId}/${listening.userId}`
      const { follow, leave } = await feeds.enter(listening, stream)
      const release = () => {
        guard.release(stream)
        leave()
      }
      const connection = await guard
        .admit(stream)
        .then(() => {
          if (stream.isEnded()) throw notFound('User', 'the user has just been deleted')
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
        newest.remove(listener, connection)
        unread.closed(connection)
        context.metrics.streams.set(connections.size)
        release()
      })
      newest.add(listener, connection)
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
      }, closeMilliseconds).unref()
      await Promise.allSettled(catchingUp)
    },
  }
}

/** A listener's stream. It may end before the client has a connection. */
interface Stream extends Follower, GuardedStream {
  connect(connection: Connection): void
  isEnded(): boolean
}

type Send = (connection: Connection, text: string, id?: string) => void

/** Makes a client a follower of a conversation, which the client knows by its external id. */
function toStream(context: Context, listening: Listening, send: Send): Stream {
  const { externalId, userId, resumes } = listening
  const startedAt = new Date(listening.startedAt)
  const { webchat } = listening
  const frames =
    webchat &&
    openWebchatFrames({ ...listening, userId: webchat.user }, webchatSource(context, listening), (frame) => {
      if (connection && !isEnded) send(connection, JSON.stringify(frame))
    })
  let connection: Connection | undefined
  let isEnded = false

  function end(): void {
    isEnded = true
    connection?.end()
  }

  return {
    listening,
    end,
    isEnded: () => isEnded,
    connect(accepted) {
      connection = accepted
      if (isEnded) return connection.end()
      if (!webchat) return
      send(connection, JSON.stringify(webchat.opening))
      connection.onClose(() => frames?.close())
    },
    entry(entry) {
      const { at, signal } = entry
      const isAlreadyStored = at <= startedAt
      if (signal.type === 'participant_removed' && signal.removedUserId === userId) {
        // A removed participant receives nothing more, not even this entry. After a past removal the user has rejoined.
        if (!isAlreadyStored) end()
        return
      }
      // A new stream receives past messages, which the client may just have sent; a resumed one all past entries.
      if (isAlreadyStored && !resumes && signal.type !== 'message_created') return
      if (frames) frames.entry(signal)
      else if (connection && !isEnded) send(connection, textFor(entry, externalId), String(at.getTime()))
    },
    passing(signal) {
      if (frames) frames.passing(signal)
      else if (connection && !isEnded && !isWebchatSignal(signal)) send(connection, textOf(signal, externalId))
    },
    gone(goneUserId) {
      if (goneUserId === userId) end()
    },
    ready: async () => connection?.drained(),
    isGone: () => isEnded || connection === undefined || connection.isClosed(),
  }
}

/** Serialised entries by the conversation's external id: the listeners of a conversation share them. */
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
