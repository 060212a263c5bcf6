import type { Announcement } from '#shared/signals/after-commit.ts'
import type { Context } from '#shared/context.ts'
import type { EphemeralSignal } from '#shared/models/signal.ts'
import { conversationTopic } from '#shared/signals/signals.ts'
import { readLog, readPositions, type LogPosition, type ReadEntry } from '#shared/store/conversation-log.ts'

/**
 * What this process hears of conversations, for all its listeners; each feed is open while it has members. The log is the truth and announcements are
 * hints: one that comes in its turn is passed on at once; when one is missing, late or twice, the feed reads the log.
 * So listeners get every entry once and in order, whatever becomes of announcements.
 */
export interface Feeds {
  /**
   * Opens a conversation's feed, or shares the open one. When this resolves nothing that happens from then on is missed:
   * the follower is told of what passes, and gets the entries as soon as it follows.
   */
  enter(key: ConversationKey, follower: Follower): Promise<Membership>
  close(): void
}

export interface Membership {
  /** Gives the follower what it has missed since a time, and from then on everything that happens. */
  follow(since: Date): Promise<void>
  /** Ends it; the feed closes with its last member. */
  leave(): void
}

/** A listener, as a feed sees it. */
export interface Follower {
  entry(entry: ReadEntry): void
  passing(signal: EphemeralSignal): void
  /** A user is no more, who may be this one. */
  gone(userId: string): void
  /** Resolves when it can take more without piling it up. */
  ready(): Promise<void>
  /** Whether it has gone. */
  isGone(): boolean
}

/** A conversation of a bot. */
export interface ConversationKey {
  botId: string
  conversationId: string
}

/** How often the logs are compared with what was announced: an announcement that is lost is made up for in this time. */
const compareMilliseconds = 20_000

export function openFeeds(context: Context): Feeds {
  const { db, dependencies, signals, log } = context
  const feeds = new Map<string, Feed>()

  async function compare(): Promise<void> {
    const positions = await readPositions(db, [...feeds.keys()])
    for (const [conversationId, position] of positions) feeds.get(conversationId)?.compare(position)
  }
  function look(): void {
    if (feeds.size === 0 || !dependencies.database.isUp()) return
    compare().catch((error: unknown) =>
      log.warn({ err: error }, 'Comparing the streams with the logs failed; retrying'),
    )
  }
  const timer = setInterval(look, compareMilliseconds)
  // While either was away, announcements were lost, or what they announced could not be read.
  const ends = [signals.onGap(look), dependencies.database.onReturn(look)]

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
  /** Tells where the log stands. */
  compare(position: LogPosition): void
}

/** @param onEmpty is called when the last member has left */
function openFeed(context: Context, key: ConversationKey, onEmpty: () => void): Feed {
  const { db, signals, log } = context
  const topic = conversationTopic(key.conversationId)
  let members = 0
  /** The members' followers, and those of them that have caught up. */
  const present = new Set<Follower>()
  const followers = new Set<Follower>()
  let position: LogPosition = { sequence: 0, at: new Date(0) }
  let isReading = false
  /** Something came while the log was being read. */
  let readAgain = false

  function pass(entry: ReadEntry): void {
    for (const follower of followers) follower.entry(entry)
  }

  function hear(announcement: Announcement): void {
    if ('passing' in announcement) {
      for (const follower of present) follower.passing(announcement.passing)
    } else if ('goneUserId' in announcement) {
      for (const follower of present) follower.gone(announcement.goneUserId)
    } else if (isReading) {
      readAgain = true
    } else if ('look' in announcement || announcement.sequence > position.sequence + 1) {
      void read()
    } else if (announcement.sequence === position.sequence + 1) {
      const at = new Date(announcement.at)
      // A reading that broke off may have passed it on already.
      const isNew = at > position.at
      position = { sequence: announcement.sequence, at: isNew ? at : position.at }
      if (isNew) pass({ at, signal: announcement.signal })
    }
  }

  /** Passes on what the log has more than was announced. */
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
    const unsubscribe = await signals.subscribe(topic, (announcement) => hear(announcement as Announcement))
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

  /** Lets a follower read the log until it is where the feed is; from that moment on it follows. */
  async function catchUp(follower: Follower, since: Date): Promise<void> {
    let at = since
    while (at < position.at && !follower.isGone()) {
      const page = await readLog(db, key, at, position.at)
      for (const entry of page.entries) {
        follower.entry(entry)
        await follower.ready()
      }
      at = page.until
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
  }
}
