import type { Config } from '../config/config.ts'
import type { Logger } from './logger.ts'
import { setTracing } from './tracing.ts'

/**
 * Begins to trace in this process, if that is configured.
 *
 * @param service what the process is called in traces, where OTEL_SERVICE_NAME does not say
 * @returns disposing sends what has not been sent, and ends it
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
