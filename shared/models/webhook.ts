/** A request to an integration's webhook, as its event keeps it: without the body, which is kept apart. */
export interface WebhookRequest {
  method: string
  /** What follows the webhook's own address, beginning with a slash; percent-encoded as it came. */
  path: string
  /** Without the question mark, as it came. */
  query: string
  /** By name in lower case. */
  headers: Record<string, string>
}

/** The largest body that an integration's webhook takes, in bytes (product specification, part 8). */
export const maxBodyBytes = 100 * 1024 * 1024

/** An isolate holds a body several times: in the text that crosses, in the argument, and in what the code makes of it. */
const shareOfMemory = 1 / 4

/** The largest body that code is given in one piece, in bytes, by the memory of its isolate in megabytes. */
export function maxWholeBytes(memoryMegabytes: number): number {
  return memoryMegabytes * 1024 * 1024 * shareOfMemory
}
