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
