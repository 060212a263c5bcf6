import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import { includesRole } from '../models/member.ts'
import type { Role } from '../models/tables.ts'
import type { Administrator } from '../rpc/caller.ts'
import type { LineStream } from '../rpc/line-stream.ts'
import { findRole } from '../store/accounts.ts'
import type { MemberKey } from '../store/presences.ts'

/** Interval of lines without news, which keep connections through proxies, and of looks at the member's role and token. */
const pingMilliseconds = 20_000
/** Upper bound of a stream's time. */
const maxMilliseconds = 3600 * 1000
/** A client that has so many lines to read asks for all anew, in another stream. */
const maxUnreadLines = 500
/** Streams of one member in one process, of each kind: open tabs. */
const maxFollowed = 10

/** The streams of each member in this process, by kind. */
const followed = new Map<string, number>()

/** The lines that every stream has beside its own. */
export interface PlainLine {
  type: 'ready' | 'ping'
}

type Member = MemberKey & Pick<Administrator, 'isStillValid'>

interface Followed<Line> {
  /** Plural, for the error. */
  kind: string
  topic: string
  /** The line that a signal becomes, if any. */
  toLine(signal: object): Line | undefined
  /** Whether a member of this role, at least that of an agent, may still follow it. */
  isAllowed?(role: Role): Promise<boolean>
}

/**
 * Opens a member's stream of what happens on a topic. `ready` says that the stream is complete from then on: it comes first, and
 * again after an interruption in which lines may have been lost.
 *
 * @throws ApiError `RateLimited` when the member has too many open
 */
export async function follow<Line>(
  context: Context,
  member: Member,
  subject: Followed<Line>,
): Promise<LineStream<Line | PlainLine>> {
  const { signals } = context
  const { kind, topic, toLine } = subject
  const stream = new UnreadLines<Line | PlainLine>(enter(`${kind} ${member.accountId}`, kind))
  try {
    const receive = (signal: object) => {
      const line = toLine(signal)
      if (line !== undefined) stream.push(line)
    }
    stream.onEnd(await signals.subscribe(topic, receive))
    stream.onEnd(signals.onGap(() => stream.push({ type: 'ready' })))
  } catch (error) {
    stream.end()
    throw error
  }
  const ping = setInterval(() => void look(context, member, subject, stream), pingMilliseconds)
  const last = setTimeout(() => stream.end(), maxMilliseconds)
  stream.onEnd(() => {
    clearInterval(ping)
    clearTimeout(last)
  })
  stream.push({ type: 'ready' })
  return { lines: stream, cancel: () => stream.end(), isEndless: true }
}

/** Counts a stream. @returns a function that ends that */
function enter(key: string, kind: string): () => void {
  const open = followed.get(key) ?? 0
  if (open >= maxFollowed) {
    throw new ApiError('RateLimited', `You have ${maxFollowed} ${kind} open: close one`, { retryAfterSeconds: 5 })
  }
  followed.set(key, open + 1)
  return () => {
    const rest = followed.get(key)! - 1
    if (rest === 0) followed.delete(key)
    else followed.set(key, rest)
  }
}

/** Ends the stream of a member who may no longer follow it; a database that is unavailable decides nothing. */
async function look<Line>(
  { db, log }: Context,
  member: Member,
  { isAllowed }: Followed<Line>,
  stream: UnreadLines<Line | PlainLine>,
): Promise<void> {
  try {
    const role = await findRole(db, member.workspaceId, member.accountId)
    if ((await member.isStillValid?.()) === false) return stream.end()
    if (!role || !includesRole(role, 'agent') || (await isAllowed?.(role)) === false) return stream.end()
  } catch (error) {
    log.debug({ err: error }, 'Looking at the role of a member failed')
  }
  stream.push({ type: 'ping' })
}

/** Lines that wait for their reader. */
class UnreadLines<Line> implements AsyncIterable<Line> {
  readonly #unread: Line[] = []
  readonly #ends: (() => void)[]
  #isOver = false
  #news = Promise.withResolvers<void>()

  constructor(onEnd: () => void) {
    this.#ends = [onEnd]
  }

  onEnd(act: () => void): void {
    if (this.#isOver) act()
    else this.#ends.push(act)
  }

  push(line: Line): void {
    if (this.#isOver) return
    if (this.#unread.length >= maxUnreadLines) return this.end()
    this.#unread.push(line)
    this.#news.resolve()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const act of this.#ends) act()
    this.#news.resolve()
  }

  [Symbol.asyncIterator](): AsyncIterator<Line> {
    return {
      next: async () => {
        while (this.#unread.length === 0 && !this.#isOver) {
          await this.#news.promise
          this.#news = Promise.withResolvers()
        }
        const line = this.#unread.shift()
        return line ? { done: false, value: line } : { done: true, value: undefined }
      },
      return: async () => {
        this.end()
        return { done: true, value: undefined }
      },
    }
  }
}
