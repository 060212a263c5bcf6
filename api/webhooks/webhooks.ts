import type { Request, RequestHandler } from 'express'
import { wakeWorker } from '#shared/signals/after-commit.ts'
import { logFailure } from '#shared/dispatch.ts'
import { awaitOutcome } from '#shared/signals/await-outcome.ts'
import type { Context } from '#shared/context.ts'
import { ApiError, foreignKeyViolation, postgresCode, notFound } from '#shared/errors.ts'
import { newId } from '#shared/ids.ts'
import { addLogFields } from '#shared/telemetry/log-scope.ts'
import { allowedLimits } from '#shared/config/limit-settings.ts'
import { webhookReceived } from '#shared/models/event.ts'
import type { WebhookRequest } from '#shared/models/webhook.ts'
import { findOwnLimits } from '#shared/store/bots.ts'
import { findEvent, insertEvent } from '#shared/store/events.ts'
import type { EventRow, Installation } from '#shared/models/tables.ts'
import { deleteBody } from '#shared/store/webhook-bodies.ts'
import { announcedBytes, type Overload } from '../overload.ts'
import { bodyBytes, storeBody } from './body.ts'
import { bodyLimitOf } from './limit.ts'
import { toErrorReply, toWebhookReply, type WebhookReply } from './reply.ts'

const graceMilliseconds = 5000

/**
 * The entry point for external services, at `/webhooks/{webhookId}/…`: any method, path, query and body. The request
 * becomes an event of the installation; the result of its code is the answer.
 */
export function webhooks(context: Context, overload: Overload): RequestHandler {
  return async (request, response) => {
    const reply = await answerWebhook(context, request, (botId) =>
      overload.hold(response, Math.min(announcedBytes(request), bodyBytes), botId),
    )
    if (response.destroyed) return
    response.statusCode = reply.status
    response.setHeaders(new Headers(reply.headers))
    // The rest of an unread body stays unread, so the connection cannot be reused.
    if (!request.complete) response.setHeader('connection', 'close')
    response.end(reply.body)
  }
}

/** Never throws: errors become replies. */
async function answerWebhook(context: Context, request: Request, hold: (botId: string) => void): Promise<WebhookReply> {
  try {
    return await context.dependencies.database.failFast(() => carryOut(context, request, hold))
  } catch (cause) {
    const error = ApiError.from(cause)
    const isGone = request.destroyed && !request.complete
    if (!isGone) logFailure(context, error, { path: request.path })
    return toErrorReply(error)
  }
}

async function carryOut(context: Context, request: Request, hold: (botId: string) => void): Promise<WebhookReply> {
  const [, webhookId = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(request.path) ?? []
  const installation = await context.installations.find(webhookId)
  if (!installation?.enabled || installation.integration_id === null) {
    throw notFound(`Webhook '${webhookId}'`)
  }
  addLogFields({ operation: 'webhook', botId: installation.bot_id, installationId: installation.id })
  // Nothing is stored while the broker is unavailable, because no worker could be woken.
  await context.dependencies.broker.failFast(async () => {})
  hold(installation.bot_id)
  const id = newId('evt')
  await context.waiting.admit(context.db, installation.bot_id, () =>
    storeBody(context.db, id, request, bodyLimitOf(context, installation)),
  )
  return toWebhookReply(await handle(context, installation, { id, payload: toPayload(request, rest) }))
}

function toPayload(request: Request, rest: string): WebhookRequest {
  const { method, originalUrl, headersDistinct } = request
  const question = originalUrl.indexOf('?')
  // Integrations cannot set cookies at this origin, so the cookies of a request are not theirs.
  const { cookie: _, ...passedOn } = headersDistinct
  const headers = Object.entries(passedOn).map(([name, values = []]) => [name, values.join(', ')])
  return {
    method,
    path: rest || '/',
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
  const { db, signals, config } = context
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
    timeoutMilliseconds: allowedLimits(config.sandbox, own).wallMilliseconds + graceMilliseconds,
    timeoutMessage: `The integration did not answer in time; event ${id} will hold its outcome`,
  })
}

function removed(cause?: unknown): ApiError {
  return notFound('Integration', 'it was removed while it handled the request', { cause })
}
