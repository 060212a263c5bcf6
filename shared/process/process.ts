import { ConfigError, readConfig, type Config } from '../config/config.ts'
import { createLogger, type Logger } from '../telemetry/logger.ts'
import { untilParentGone } from './parent-process.ts'
import { findAncestry, untilLauncherGone } from './launchers.ts'
import { secretsOf } from '../config/telemetry-settings.ts'
import { startTracing } from '../telemetry/start-tracing.ts'

const lingerMilliseconds = 1000
/**
 * npm and the terminal both forward one Ctrl-C, and a closing terminal sends more than one signal: signals within this
 * time count as one.
 */
const sameMilliseconds = 1000

/**
 * Runs a process: reads the configuration, opens the work, waits for a signal, closes and exits. A second signal exits
 * at once.
 *
 * @param open starts the work; its result is disposed of at the end
 */
export async function runProcess(name: string, open: (config: Config, log: Logger) => Promise<AsyncDisposable>) {
  disableInspectorSignal()
  let config
  try {
    config = readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
    return
  }
  const log = createLogger(name, config.logLevel, { secrets: secretsOf(config) })
  // Installed before the work opens: a process that is stopped while it opens finishes opening, then closes in order.
  const stopRequested = untilStopRequested(config.hasParent).then((reason) => {
    log.info({ reason }, 'Stopping')
    return setTimeout(() => {
      log.error('Shutdown timed out before all work ended')
      process.exit(1)
    }, config.shutdownMilliseconds)
  })
  const tracing = await startTracing(config, name, log)
  const work = await open(config, log).catch((error: unknown) => {
    log.fatal({ err: error }, 'Start failed')
    process.exit(1)
  })

  const overdue = await stopRequested
  await work[Symbol.asyncDispose]()
  await tracing[Symbol.asyncDispose]()
  clearTimeout(overdue)
  log.info('Stopped')
  // All work has ended: a connection that was left open must not keep the process alive.
  setTimeout(() => process.exit(), lingerMilliseconds).unref()
}

/**
 * Without a listener, Node answers SIGUSR1 with an inspector, which gives every client that can connect to it full
 * control of this process. Any process of the same user can send the signal.
 */
export function disableInspectorSignal(): void {
  process.on('SIGUSR1', () => {})
}

/** Resolves with the reason to stop. From then on, a user's second signal exits the process. */
function untilStopRequested(hasParent: boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let requestedAt: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      requestedAt ??= Date.now()
      if (signal !== 'SIGHUP' && Date.now() - requestedAt > sameMilliseconds) process.exit(1)
      resolve(signal)
    })
  }
  if (hasParent) void untilParentGone().then(() => resolve('the parent process exited'))
  void findAncestry()
    .then(untilLauncherGone)
    .then(() => resolve('npm exited'))
  return promise
}
