/** A request to an integration's webhook, as its event stores it: without the body, which is stored separately. */
export interface WebhookRequest {
  method: string
  /** The path below the webhook's address, with a leading slash; percent-encoded as received. */
  path: string
  /** Without the question mark, as received. */
  query: string
  /** By lower-case name. */
  headers: Record<string, string>
}

/** Upper bound of a webhook request's body, in bytes (product specification, part 8). */
export const maxBodyBytes = 100 * 1024 * 1024

/**
 * An isolate holds several copies of a body: the transferred text, the argument, and the values that the code derives.
 */
const shareOfMemory = 1 / 4

/** Upper bound of a body that is passed to code as a whole, in bytes, by the memory of its isolate in megabytes. */
export function maxWholeBytes(memoryMegabytes: number): number {
  return memoryMegabytes * 1024 * 1024 * shareOfMemory
}
