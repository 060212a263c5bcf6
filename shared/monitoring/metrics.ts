import type { Context } from '../context.ts'
import { exposeConnectionMetrics } from './connection-metrics.ts'
import { exposeContentMetrics } from './content-metrics.ts'
import { exposeHandoverMetrics } from './handover-metrics.ts'
import { exposeQueueMetrics } from './queue-metrics.ts'

/** Adds the gauges that every process has. They are read only when the metrics are requested. */
export function exposeMetrics(context: Context): void {
  exposeConnectionMetrics(context.metrics, context.dependencies, context.db)
  exposeQueueMetrics(context)
  exposeContentMetrics(context)
  exposeHandoverMetrics(context)
}
