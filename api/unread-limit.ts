import type { ServerResponse } from 'node:http'

/** A client that reads nothing for so long is disconnected: what it does not read is held in memory. */
export const unreadMilliseconds = 30_000

/**
 * Disconnects the client of an answer that is being sent when it reads nothing for so long. Node takes a part that was read for
 * activity, also one of a long text, and ends the limit with the answer.
 */
export function limitUnread(response: ServerResponse, milliseconds = unreadMilliseconds): void {
  response.setTimeout(milliseconds, () => response.destroy())
}
