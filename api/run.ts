import { connectionBudget } from '#shared/config/connection-budget.ts'
import { assertUsablePooler } from '#shared/connectivity/pooler.ts'
import { openContext } from '#shared/context.ts'
import { exposeMetrics } from '#shared/monitoring/metrics.ts'
import { runProcess } from '#shared/process/process.ts'
import { assertMigrated } from '../migrations/assert-migrated.ts'
import { startServer } from './server.ts'

/** Routers stop sending requests to a stopping process within this time. */
const drainMilliseconds = 1000

await runProcess('api', async (config, log) => {
  await assertUsablePooler(config, log)
  await assertMigrated(config.database)
  const parts = new AsyncDisposableStack()
  const context = parts.use(openContext(config, log))
  exposeMetrics(context)
  const server = parts.use(await startServer(context, drainMilliseconds))
  log.info({ connections: connectionBudget(config, 'api') }, 'Maximum of connections to PostgreSQL')
  log.info({ port: server.port }, 'Listening')
  return parts
})
