import { connectionBudget } from '#shared/config/connection-budget.ts'
import { assertUsablePooler } from '#shared/connectivity/pooler.ts'
import { openContext } from '#shared/context.ts'
import { exposeMetrics } from '#shared/monitoring/metrics.ts'
import { runProcess } from '#shared/process/process.ts'
import { assertMigrated } from '../migrations/assert-migrated.ts'
import { startMonitoringServer } from './metrics/monitoring-server.ts'
import { startWorker, type Worker } from './worker.ts'

await runProcess('worker', async (config, log) => {
  await assertUsablePooler(config, log)
  await assertMigrated(config.database)
  const parts = new AsyncDisposableStack()
  const context = parts.use(openContext(config, log))
  exposeMetrics(context)
  let worker: Worker | undefined
  parts.use(await startMonitoringServer(context, () => worker?.queueState() ?? 'starting'))
  worker = parts.use(await startWorker(context))
  log.info({ connections: connectionBudget(config, 'worker') }, 'Maximum of connections to PostgreSQL')
  log.info({ concurrency: config.worker.concurrency, sandboxes: config.sandbox.processes }, 'Working')
  return parts
})
