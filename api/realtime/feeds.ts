import type { Announcement, RunOfSignal } from '#shared/signals/after-commit.ts'
import type { Context } from '#shared/context.ts'
import type { EphemeralSignal } from '#shared/models/signal.ts'
import { conversationTopic } from '#shared/signals/signals.ts'
import { readLog, readPositions, type LogPosition, type ReadEntry } from '#shared/store/conversation-log.ts'
import { openStreams, readAttempts, type OpenStreams } from './open-streams.ts'

/**
 * The conversations that this process follows for its listeners; each feed is open while it has members. The log is
 * authoritative, and announcements are hints: the feed passes on an announcement with the next sequence number at once,
 * reads the log after a gap, and ignores repeated ones. So listeners receive every entry once and in order, even when
 * announcements are lost.
 */
export interface Feeds {
  /**
   * Opens a conversation's feed, or shares the open one. The follower misses nothing that happens after this resolves:
   * it receives ephemeral signals at once, and the entries as soon as it follows.
   */
  enter(key: ConversationKey, follower: Follower): Promise<Membership>
  close(): void
}

export interface Membership {
  /** Sends the follower the entries since a time, and from then on each new one. */
  follow(since: Date): Promise<void>
  /** Ends the membership; the feed closes with its last member. */
  leave(): void
}

/** A listener, as a feed sees it. */
export interface Follower {
  entry(entry: ReadEntry): void
  passing(signal: EphemeralSignal): void
  /** A user was deleted, who may be this listener. */
  gone(userId: string): void
  /** Resolves when the follower can receive more without buffering. */
  ready(): Promise<void>
  /** Whether the client has disconnected or the stream has ended. */
  isGone(): boolean
}

/** A conversation of a bot. */
export interface ConversationKey {
  botId: string
  conversationId: string
}

/**
 * Interval at which feeds are compared with the logs and the events: bounds the delay of an entry whose announcement was
 * lost, and of the abort of a message stream whose worker was killed.
 */
const compareMilliseconds = 20_000

export function openFeeds(context: Context): Feeds {
  const { db, dependencies, signals, log } = context
  const feeds = new Map<string, Feed>()

  async function compare(): Promise<void> {
    const positions = await readPositions(db, [...feeds.keys()])
    for (const [conversationId, position] of positions) feeds.get(conversationId)?.compare(position)
    const eventIds = new Set(Array.from(feeds.values(), (feed) => feed.streamingEvents()).flat())
    if (eventIds.size === 0) return
    const attempts = await readAttempts(db, Array.from(eventIds))
    for (const feed of feeds.values()) feed.compareStreams(eventIds, attempts)
  }
  function look(): void {
    if (feeds.size === 0 || !dependencies.database.isUp()) return
    compare().catch((error: unknown) =>
      log.warn({ err: error }, 'Comparing the streams with the logs failed; retrying'),
    )
  }
  const timer = setInterval(look, compareMilliseconds)
  // While either was unavailable, announcements were lost or their entries could not be read.
  const ends = [signals.onGap(look), ...dependencies.all.map((dependency) => dependency.onReturn(look))]

  return {
    enter(key, follower) {
      const { conversationId } = key
      let feed = feeds.get(conversationId)
      if (!feed) {
        feed = openFeed(context, key, () => feeds.delete(conversationId))
        feeds.set(conversationId, feed)
      }
      return feed.enter(follower)
    },
    close() {
      clearInterval(timer)
      for (const end of ends) end()
    },
  }
}

interface Feed {
  enter(follower: Follower): Promise<Membership>
  /** Reads the log when its position is ahead of the feed's. */
  compare(position: LogPosition): void
  /** Ids of the events whose runs have open message streams. */
  streamingEvents(): string[]
  /** Aborts the message streams of runs that are over. */
  compareStreams(...compared: Parameters<OpenStreams['compare']>): void
}

/** @param onEmpty called when the last member has left */
function openFeed(context: Context, key: ConversationKey, onEmpty: () => void): Feed {
  const { db, signals, log } = context
  const topic = conversationTopic(key.conversationId)
  let members = 0
  /** `present`: the followers of all members; `followers`: those that have caught up. */
  const present = new Set<Follower>()
  const followers = new Set<Follower>()
  const streams = openStreams()
  let position: LogPosition = { sequence: 0, at: new Date(0) }
  let isReading = false
  /** An announcement arrived while the log was being read. */
  let readAgain = false

  function pass(entry: ReadEntry): void {
    const streamId = entry.signal.type === 'message_created' && entry.signal.data.metadata?.['streamId']
    if (typeof streamId === 'string') streams.ended(streamId)
    for (const follower of followers) follower.entry(entry)
  }

  function passEphemeral(signal: EphemeralSignal, run?: RunOfSignal): void {
    if (signal.type === 'message_stream_delta') {
      if (run) abort(streams.begun(signal.data.streamId, run))
    } else if (signal.type === 'message_stream_complete' || signal.type === 'message_stream_abort') {
      streams.ended(signal.data.streamId)
    }
    for (const follower of present) follower.passing(signal)
  }

  function abort(streamIds: string[]): void {
    const { conversationId } = key
    for (const streamId of streamIds)
      passEphemeral({ type: 'message_stream_abort', data: { streamId, conversationId } })
  }

  function receive(announcement: Announcement): void {
    if ('passing' in announcement) {
      passEphemeral(announcement.passing, announcement.run)
    } else if ('goneUserId' in announcement) {
      for (const follower of present) follower.gone(announcement.goneUserId)
    } else if (isReading) {
      readAgain = true
    } else if ('look' in announcement || announcement.sequence > position.sequence + 1) {
      void read()
    } else if (announcement.sequence === position.sequence + 1) {
      const at = new Date(announcement.at)
      // A read that failed midway may have passed the entry on already.
      const isNew = at > position.at
      position = { sequence: announcement.sequence, at: isNew ? at : position.at }
      if (isNew) pass({ at, signal: announcement.signal })
    }
  }

  /** Passes on the entries of the log beyond the feed's position. */
  async function read(): Promise<void> {
    isReading = true
    try {
      do {
        readAgain = false
        const head = (await readPositions(db, [key.conversationId])).get(key.conversationId)
        // The conversation was deleted.
        if (!head) return
        while (position.at < head.at) {
          const page = await readLog(db, key, position.at, head.at)
          position = { sequence: position.sequence, at: page.until }
          for (const entry of page.entries) pass(entry)
        }
        position = head
      } while (readAgain)
    } catch (error) {
      log.warn({ err: error, ...key }, 'Reading a conversation’s log failed; retrying')
    } finally {
      isReading = false
    }
  }

  async function open(): Promise<() => void> {
    isReading = true
    const unsubscribe = await signals.subscribe(topic, (announcement) => receive(announcement as Announcement))
    try {
      const head = (await readPositions(db, [key.conversationId])).get(key.conversationId)
      if (head) position = head
    } catch (error) {
      unsubscribe()
      throw error
    }
    isReading = false
    if (readAgain) void read()
    return unsubscribe
  }
  const opened = open()

  /** Sends a follower the log up to the feed's position; from then on it receives what the feed passes on. */
  async function catchUp(follower: Follower, since: Date): Promise<void> {
    let at = since
    while (at < position.at && !follower.isGone()) {
      const page = await readLog(db, key, at, position.at)
      // A page that waited for its client would be held beside the unread bytes, which are bounded.
      for (const entry of page.entries) follower.entry(entry)
      at = page.until
      await follower.ready()
    }
    if (!follower.isGone()) followers.add(follower)
  }

  function leave(): void {
    members -= 1
    if (members > 0) return
    onEmpty()
    opened.then((unsubscribe) => unsubscribe()).catch(() => {})
  }

  return {
    async enter(follower) {
      members += 1
      try {
        await opened
      } catch (error) {
        leave()
        throw error
      }
      present.add(follower)
      return {
        follow: (since) => catchUp(follower, since),
        leave() {
          for (const set of [present, followers]) set.delete(follower)
          leave()
        },
      }
    },
    compare(announced) {
      if (announced.sequence > position.sequence && !isReading) void read()
    },
    streamingEvents: () => streams.eventIds(),
    compareStreams: (asked, attempts) => abort(streams.compare(asked, attempts)),
  }
}
