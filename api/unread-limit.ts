import type { ServerResponse } from 'node:http'

/** A client that reads nothing for so long is disconnected: what it does not read is held in memory. */
export const unreadMilliseconds = 30_000

/** Answers whose clients were disconnected because they read nothing. */
const unread = new WeakSet<ServerResponse>()

/** Whether the client of an answer was disconnected because it read nothing. */
export function wasUnread(response: ServerResponse): boolean {
  return unread.has(response)
}

/** Disconnects the client of an answer that it does not read. */
export function endUnreadAnswer(response: ServerResponse): void {
  unread.add(response)
  response.destroy()
}

/**
 * Disconnects the client of an answer that is being sent when it reads nothing for so long. Node takes a part that was read for
 * activity, also one of a long text, and ends the limit with the answer.
 */
export function limitUnread(response: ServerResponse, milliseconds = unreadMilliseconds): void {
  response.setTimeout(milliseconds, () => endUnreadAnswer(response))
}
