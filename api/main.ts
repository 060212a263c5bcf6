import { openContext } from '#shared/context.ts'
import { runProcess } from '#shared/process.ts'
import { startServer } from './server.ts'

await runProcess('api', async (config, log) => {
  const parts = new AsyncDisposableStack()
  const context = parts.use(openContext(config, log))
  const server = parts.use(await startServer(context))
  log.info({ port: server.port }, 'Listening')
  return parts
})
