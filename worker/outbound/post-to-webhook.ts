import type { Context } from '#shared/context.ts'
import type { Outbound } from './open-outbound.ts'

const timeoutMilliseconds = 10_000
/** Only the status of the answer is used. */
const maxResponseBytes = 64 * 1024

/** Attempts for each body: about 9 minutes, with the waits between them. */
export const webhookAttempts = 10
/** The wait after the first failure; each further one is twice the one before. */
export const webhookBackOff = (failures: number) => 1000 * 2 ** failures

export type WebhookKind = 'chat' | 'inbox'

export interface WebhookAddress {
  /** The owner of the webhook, for the metrics. */
  kind: WebhookKind
  /** The bot or the workspace on whose behalf it is called. */
  tenant: string
  url: string
  /** Sent as `x-secret-key`. */
  secret?: string | undefined
}

/**
 * Sends a body to a webhook.
 *
 * @returns the reason why the receiver did not accept it; undefined when it did
 */
export async function postToWebhook(
  context: Context & { outbound: Outbound },
  address: WebhookAddress,
  body: object,
): Promise<string | undefined> {
  const problem = await post(context, address, body)
  const outcome = problem === undefined ? 'accepted' : 'failed'
  context.metrics.webhookRequests.inc({ webhook: address.kind, outcome })
  return problem
}

async function post(
  { outbound, log }: Pick<Context, 'log'> & { outbound: Outbound },
  { tenant, url, secret }: WebhookAddress,
  body: object,
): Promise<string | undefined> {
  try {
    using response = await outbound.request({
      tenant,
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...(secret && { 'x-secret-key': secret }) },
      body: JSON.stringify(body),
      // Naming the host with its port permits any port.
      allow: [new URL(url).host],
      // A redirect would turn the POST into a GET without the body.
      maxRedirects: 0,
      timeoutMilliseconds,
      maxResponseBytes,
    })
    return response.status < 300 ? undefined : `it answered with ${response.status}`
  } catch (error) {
    log.debug({ err: error }, 'Calling a webhook failed')
    return error instanceof Error ? error.message : String(error)
  }
}
