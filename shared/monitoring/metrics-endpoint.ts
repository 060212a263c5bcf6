import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import { readQueueStats } from './queue-stats.ts'
import { readInTime } from './read-in-time.ts'
import { hashToken } from '../secrets.ts'

export interface TextReply {
  status: number
  headers: Record<string, string>
  body: string
}

/** Paths of the metrics; METRICS_TOKEN is the bearer token. */
export const metricsPaths = ['/metrics', '/autoscale'] as const

type MetricsPath = (typeof metricsPaths)[number]

/**
 * Serves `/metrics`, for Prometheus, and `/autoscale`, with the recommended number of workers. Both cover all
 * workspaces, so they are for the operator only: without METRICS_TOKEN they are disabled.
 */
export async function serveMetrics(
  context: Context,
  path: string,
  { headers }: Pick<IncomingMessage, 'headers'>,
): Promise<TextReply> {
  const { metrics: settings } = context.config
  if (settings === undefined || !isMetricsPath(path)) {
    return asJson(404, notFound(`Path ${path}`))
  }
  if (!isBearer(headers.authorization, settings.token)) {
    return asJson(401, new ApiError('Unauthorized', 'Send the header Authorization: Bearer <METRICS_TOKEN>'), {
      'www-authenticate': 'Bearer',
    })
  }
  try {
    if (path === '/autoscale') {
      return asJson(200, await readInTime(context.dependencies, () => readQueueStats(context)))
    }
    const { registry } = context.metrics
    return { status: 200, headers: { 'content-type': registry.contentType }, body: await registry.metrics() }
  } catch (cause) {
    const error = ApiError.from(cause)
    return asJson(error.status, error)
  }
}

function isMetricsPath(path: string): path is MetricsPath {
  return (metricsPaths as readonly string[]).includes(path)
}

function isBearer(authorization: string | undefined, token: string): boolean {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  return timingSafeEqual(hashToken(given), hashToken(token))
}

function asJson(status: number, body: unknown, headers: Record<string, string> = {}): TextReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  }
}
