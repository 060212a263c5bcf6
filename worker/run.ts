import { connectionBudget } from '#shared/config/connection-budget.ts'
import { assertUsablePooler } from '#shared/connectivity/pooler.ts'
import { openContext } from '#shared/context.ts'
import { exposeMetrics } from '#shared/monitoring/metrics.ts'
import { runProcess } from '#shared/process/process.ts'
import { startMonitoringServer } from './metrics/monitoring-server.ts'
import { startWorker } from './worker.ts'

await runProcess('worker', async (config, log) => {
  await assertUsablePooler(config)
  const parts = new AsyncDisposableStack()
  const context = parts.use(openContext(config, log))
  exposeMetrics(context)
  let isWorking = false
  parts.use(await startMonitoringServer(context, () => isWorking))
  parts.use(await startWorker(context))
  isWorking = true
  log.info({ connections: connectionBudget(config, 'worker') }, 'Maximum of connections to PostgreSQL')
  log.info({ concurrency: config.worker.concurrency, sandboxes: config.sandbox.processes }, 'Working')
  return parts
})
