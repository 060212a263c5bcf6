import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { InboxLine } from '../models/inbox-line.ts'
import { includesRole } from '../models/member.ts'
import type { LineStream } from '../rpc/line-stream.ts'
import { inboxTopic } from '../signals/signals.ts'
import { findRole } from '../store/accounts.ts'
import type { MemberKey } from '../store/presences.ts'

/** Interval of lines without news, which keep connections through proxies, and of looks at the member's role. */
const pingMilliseconds = 20_000
/** Upper bound of a stream's time: tokens are looked at when it begins. */
const maxMilliseconds = 3600 * 1000
/** A client that has so many lines to read asks the lists anew, in another stream. */
const maxUnreadLines = 500
/** Streams of one member in one process: open tabs. */
export const maxFollowed = 10

/** The streams of each member in this process. */
const followed = new Map<string, number>()

/**
 * Opens a member's stream of what happens in the inbox of a workspace. `ready` says that the stream is complete from then on:
 * it comes first, and again after an interruption in which lines may have been lost.
 *
 * @throws ApiError `RateLimited` when the member has too many open
 */
export async function followInbox(context: Context, member: MemberKey): Promise<LineStream<InboxLine>> {
  const { accountId, workspaceId } = member
  const open = followed.get(accountId) ?? 0
  if (open >= maxFollowed) {
    throw new ApiError('RateLimited', `You have ${maxFollowed} inboxes open: close one`, { retryAfterSeconds: 5 })
  }
  followed.set(accountId, open + 1)
  const leave = () => {
    const rest = followed.get(accountId)! - 1
    if (rest === 0) followed.delete(accountId)
    else followed.set(accountId, rest)
  }
  const stream = new InboxStream(leave)
  try {
    const { signals } = context
    stream.onEnd(await signals.subscribe(inboxTopic(workspaceId), (line) => stream.push(line as InboxLine)))
    stream.onEnd(signals.onGap(() => stream.push({ type: 'ready' })))
  } catch (error) {
    stream.end()
    throw error
  }
  const ping = setInterval(() => void look(context, member, stream), pingMilliseconds)
  const last = setTimeout(() => stream.end(), maxMilliseconds)
  stream.onEnd(() => {
    clearInterval(ping)
    clearTimeout(last)
  })
  stream.push({ type: 'ready' })
  return { lines: stream, cancel: () => stream.end(), isEndless: true }
}

/** Ends the stream of a member who may no longer answer; a database that is unavailable decides nothing. */
async function look({ db, log }: Context, { accountId, workspaceId }: MemberKey, stream: InboxStream): Promise<void> {
  try {
    const role = await findRole(db, workspaceId, accountId)
    if (!role || !includesRole(role, 'agent')) return stream.end()
  } catch (error) {
    log.debug({ err: error }, 'Looking at the role of a member failed')
  }
  stream.push({ type: 'ping' })
}

/** Lines that wait for their reader. */
class InboxStream implements AsyncIterable<InboxLine> {
  readonly #unread: InboxLine[] = []
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

  push(line: InboxLine): void {
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

  [Symbol.asyncIterator](): AsyncIterator<InboxLine> {
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
