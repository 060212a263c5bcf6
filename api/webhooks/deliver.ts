import type { Request } from 'express'
import { allowedLimits } from '#shared/config/limit-settings.ts'
import type { Context } from '#shared/context.ts'
import { foreignKeyViolation, notFound, postgresCode, type ApiError } from '#shared/errors.ts'
import { newId } from '#shared/ids.ts'
import { webhookReceived } from '#shared/models/event.ts'
import type { EventRow, Installation } from '#shared/models/tables.ts'
import type { WebhookRequest } from '#shared/models/webhook.ts'
import { wakeWorker } from '#shared/signals/after-commit.ts'
import { awaitOutcome } from '#shared/signals/await-outcome.ts'
import { WaitingRequests } from '#shared/signals/waiting-requests.ts'
import { findOwnLimits } from '#shared/store/bots.ts'
import { findEvent, insertEvent } from '#shared/store/events.ts'
import { deleteBody } from '#shared/store/webhook-bodies.ts'
import { addLogFields } from '#shared/telemetry/log-scope.ts'
import { announcedBytes } from '../overload.ts'
import { bodyBytes, storeBody, storeBytes } from './body.ts'
import { bodyLimitOf } from './limit.ts'

const graceMilliseconds = 5000

/** Anybody who knows the address of a webhook may send requests to it, and each is held for as long as its code takes. */
const waiting = new WaitingRequests(100)

/** Counts bytes that a request holds for a tenant, or throws. */
export type Hold = (bytes: number, tenant: string) => void

export interface Delivery {
  installation: Installation
  /** The path that the integration sees. */
  path: string
  /** The body, where it has been read already. */
  body?: Buffer
}

/** An installed integration that is enabled. */
export async function findEnabled(context: Context, webhookId: string): Promise<Installation | undefined> {
  const installation = await context.installations.find(webhookId)
  return installation?.enabled && installation.integration_id !== null ? installation : undefined
}

/**
 * Hands a request to an installation, and waits until its code has handled it.
 *
 * @returns the completed event
 * @throws ApiError `RateLimited` before the body is read, when too many requests to the bot's webhooks wait;
 *   `ResourceNotFound` when the installation is removed meanwhile; `OperationTimeout` when its code does not answer in
 *   time, or the caller has gone: the stored event is handled all the same
 */
export async function deliver(context: Context, request: Request, delivery: Delivery, hold: Hold): Promise<EventRow> {
  const { bot_id: botId } = delivery.installation
  return waiting.run(context, { botId }, 'webhook requests of this bot', () =>
    storeAndAwait(context, request, delivery, hold),
  )
}

async function storeAndAwait(
  context: Context,
  request: Request,
  { installation, path, body }: Delivery,
  hold: Hold,
): Promise<EventRow> {
  const { id: installationId, bot_id: botId } = installation
  addLogFields({ operation: 'webhook', botId, installationId })
  // Nothing is stored while the broker is unavailable, because no worker could be woken.
  await context.dependencies.broker.failFast(async () => {})
  if (!body) hold(Math.min(announcedBytes(request), bodyBytes), botId)
  const id = newId('evt')
  await context.waiting.admit(context.db, botId, () =>
    body ? storeBytes(context.db, id, body) : storeBody(context.db, id, request, bodyLimitOf(context, installation)),
  )
  return handle(context, installation, { id, payload: toPayload(request, path) })
}

/** A request as code receives it, without its body. */
export function toPayload(request: Request, path: string): WebhookRequest {
  const { method, originalUrl, headersDistinct } = request
  const question = originalUrl.indexOf('?')
  // Integrations cannot set cookies at this origin, so the cookies of a request are not theirs.
  const { cookie: _, ...passedOn } = headersDistinct
  const headers = Object.entries(passedOn).map(([name, values = []]) => [name, values.join(', ')])
  return {
    method,
    path: path || '/',
    query: question < 0 ? '' : originalUrl.slice(question + 1),
    headers: Object.fromEntries(headers) as Record<string, string>,
  }
}

/** Inserts the event of the request, and waits until the integration has handled it. */
async function handle(
  context: Context,
  { id: installationId, bot_id: botId }: Installation,
  { id, payload }: { id: string; payload: WebhookRequest },
): Promise<EventRow> {
  const { db, signals, config, callerGone } = context
  const own = await findOwnLimits(db, botId)
  return awaitOutcome(signals, id, {
    async ask() {
      try {
        await insertEvent(db, { id, botId, installationId, type: webhookReceived, payload: { ...payload } })
      } catch (error) {
        await deleteBody(db, id)
        throw postgresCode(error) === foreignKeyViolation ? removed(error) : error
      }
      await wakeWorker(context, 'event', id, botId)
    },
    async poll() {
      const event = await findEvent(db, botId, id)
      if (!event) throw removed()
      return event.status === 'pending' ? undefined : event
    },
    callerGone: callerGone?.(),
    timeoutMilliseconds: allowedLimits(config.sandbox, own).wallMilliseconds + graceMilliseconds,
    timeoutMessage: `The integration did not answer in time; event ${id} will hold its outcome`,
  })
}

function removed(cause?: unknown): ApiError {
  return notFound('Integration', 'it was removed while it handled the request', { cause })
}
