import type { Dependencies } from '../connectivity/dependencies.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Database } from '../store/database.ts'
import { poolOf } from '../store/pool-state.ts'

/** Adds the gauges of a process's dependencies and database connections. */
export function exposeConnectionMetrics({ gauge }: Metrics, { all, database }: Dependencies, db: Database): void {
  gauge({
    name: 'dependency_up',
    help: 'Whether a dependency of the process is up: 1 or 0',
    labels: ['dependency'],
    read: () => all.map((one) => [{ dependency: one.name }, one.isUp() ? 1 : 0]),
  })
  gauge({
    name: 'clock_difference_seconds',
    help: "Seconds by which PostgreSQL's clock is ahead of this machine's",
    read: () => [[{}, database.clockDifference() / 1000]],
  })
  gauge({
    name: 'database_connections',
    help: 'Connections of the pool for statements, and requests that wait for one',
    labels: ['state'],
    read() {
      const pool = poolOf(db)
      if (!pool) return []
      return [
        [{ state: 'used' }, pool.numUsed()],
        [{ state: 'free' }, pool.numFree()],
        [{ state: 'waited_for' }, pool.numPendingAcquires()],
      ]
    },
  })
}
