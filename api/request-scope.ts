import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type RequestListener } from 'node:http'
import type { Request as Asked } from '#shared/dispatch.ts'
import type { Caller } from '#shared/rpc/caller.ts'
import type { Context } from '#shared/context.ts'
import { addLogFields, inLogScope, type LogFields } from '#shared/telemetry/log-scope.ts'
import { interfaceOf } from '#shared/openapi/interfaces.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import { redactKnownForms } from '#shared/telemetry/redact.ts'
import { openedTracing } from '#shared/telemetry/tracing.ts'
import { wasUnread } from './unread-limit.ts'

/** Header with the id of a request, for the log and the answer; generated when the router or client sends none. */
export const requestIdHeader = 'X-Request-Id'

/** Accepts the ids of common routers, and no characters that could forge part of a log line. */
const requestId = /^[\w.:+=/-]{1,128}$/

/** The log fields of a request, which its handling fills in. */
interface Scope extends LogFields {
  requestId: string
  /** For instance `chat.createMessage`. */
  operation?: string
}

/**
 * Answers each request in a log scope of its own: its log lines carry its id, its duration is measured and, where
 * tracing is enabled, traced.
 */
export function scopeRequests(
  { log, metrics }: Pick<Context, 'log' | 'metrics'>,
  handle: RequestListener,
): RequestListener {
  return (request, response) => {
    const scope: Scope = { requestId: idOf(request) }
    response.setHeader(requestIdHeader, scope.requestId)
    const { method = '', url = '' } = request
    const path = url.split('?', 1)[0]!
    const begin = performance.now()
    const tracing = openedTracing()
    const span = tracing?.request(method, request.headers, {
      'http.request.method': method,
      // The addresses of files and tunnels are credentials.
      'url.path': redactKnownForms(path),
    })
    if (span && tracing) scope['traceId'] = span.run(() => tracing.traceId())

    response.once('close', () => {
      if (wasUnread(response)) metrics.unreadDisconnects.inc({ of: 'answer' })
      const milliseconds = performance.now() - begin
      const status = response.writableFinished || response.headersSent ? response.statusCode : goneStatus
      const { operation = 'none' } = scope
      const isStream = response.getHeader('content-type') === 'text/event-stream'
      if (!isStream) metrics.requests.observe({ operation, status: statusLabel(status) }, milliseconds / 1000)
      span?.end(`${method} ${operation}`, { 'http.response.status_code': status, ...spanFields(scope) }, status >= 500)
      if (!log.isLevelEnabled('debug')) return
      inLogScope(scope, () => log.debug({ method, path, status, milliseconds: round(milliseconds) }, 'Answered'))
    })
    const work = () => inLogScope(scope, () => handle(request, response))
    if (span) span.run(work)
    else work()
  }
}

/** Handles a WebSocket upgrade in a log scope of its own. */
export function scopeUpgrade(request: IncomingMessage, work: (requestId: string) => void): void {
  const requestId = idOf(request)
  inLogScope({ requestId }, () => work(requestId))
}

/** The status that routers log for a client that disconnects before the answer. */
const goneStatus = 499

/** Webhook handlers choose their statuses: unknown ones share one label per hundred, to bound the number of series. */
function statusLabel(status: number): string {
  return status in STATUS_CODES || status === goneStatus ? String(status) : `${Math.floor(status / 100)}xx`
}

/** The id in the request's header, or a new one. */
function idOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && requestId.test(given) ? given : randomUUID()
}

/** Adds the operation and the caller to the log fields of a request. */
export function withLogFieldsOf(identify: Asked['identify']): Asked['identify'] {
  return async (operation, parameters) => {
    addLogFields({ operation: labelOf(operation) })
    const caller = await identify(operation, parameters)
    addLogFields(fieldsOf(caller))
    return caller
  }
}

function fieldsOf(caller: Caller): LogFields {
  switch (caller.kind) {
    case 'visitor':
      return { botId: caller.installation.bot_id }
    case 'user':
      return { botId: caller.installation.bot_id, userId: caller.externalId }
    case 'bot':
      return { botId: caller.botId, ...(caller.installation && { installationId: caller.installation.id }) }
    case 'account':
      return { accountId: caller.accountId }
    case 'invitee':
    case 'administrator':
      return { workspaceId: caller.workspaceId, accountId: caller.accountId }
  }
}

const labels = new WeakMap<Operation, string>()

/** The name of an operation, prefixed with its interface: names are unique only within one. */
function labelOf(operation: Operation): string {
  const known = labels.get(operation)
  if (known !== undefined) return known
  const label = `${interfaceOf(operation.path).name}.${operation.name}`
  labels.set(operation, label)
  return label
}

function spanFields({ requestId: id, botId, workspaceId }: Scope) {
  return { 'isobot.request_id': id, 'isobot.bot_id': botId, 'isobot.workspace_id': workspaceId }
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
