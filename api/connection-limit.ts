import type { Server } from 'node:net'
import { maxOpenFiles } from '#shared/process/open-files.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'

/** Files that a process opens beside connections of clients: connections to PostgreSQL, Redis and stores, and its own. */
const reservedFiles = 100
/** Minimum time between two lines of the log. */
const logMilliseconds = 60_000

/**
 * Refuses connections of clients before the process reaches its limit of open files. At that limit the system refuses them, and the process learns
 * nothing of it; the connections to PostgreSQL and Redis that requests need fail too.
 *
 * @param openFiles the limit of the process
 */
export function limitConnections(
  server: Server,
  { log, metrics }: { log: Pick<Logger, 'error'>; metrics: Pick<Metrics, 'connectionRefusals'> },
  openFiles = maxOpenFiles(),
): void {
  if (!Number.isFinite(openFiles)) return
  server.maxConnections = Math.max(openFiles - reservedFiles, Math.floor(openFiles / 2))
  let refused = 0
  let loggedAt = -Infinity
  server.on('drop', () => {
    metrics.connectionRefusals.inc()
    refused += 1
    if (performance.now() - loggedAt < logMilliseconds) return
    const figures = { refused, connections: server.maxConnections, openFiles }
    log.error(
      figures,
      'Connections are refused: raise the limit of open files of this process (ulimit -n), or add apis',
    )
    refused = 0
    loggedAt = performance.now()
  })
}
