import type { Config } from '../config/config.ts'
import type { Logger } from './logger.ts'
import { setTracing } from './tracing.ts'

/**
 * Starts tracing in this process, if it is configured.
 *
 * @param service the service name in traces unless OTEL_SERVICE_NAME is set
 * @returns disposing flushes the remaining spans and ends tracing
 */
export async function startTracing(config: Config, service: string, log: Logger): Promise<AsyncDisposable> {
  if (!config.tracing) return { async [Symbol.asyncDispose]() {} }
  const { openTracing } = await import('./open-telemetry.ts')
  const open = openTracing(config.tracing, service, log)
  setTracing(open)
  return {
    async [Symbol.asyncDispose]() {
      setTracing(undefined)
      await open[Symbol.asyncDispose]()
    },
  }
}
