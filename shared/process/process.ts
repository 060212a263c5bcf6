import { ConfigError, readConfig, type Config } from '../config/config.ts'
import { createLogger, type Logger } from '../telemetry/logger.ts'
import { untilParentGone } from './parent-process.ts'
import { findAncestry, untilLauncherGone } from './launchers.ts'
import { secretsOf } from '../config/telemetry-settings.ts'
import { startTracing } from '../telemetry/start-tracing.ts'

const lingerMilliseconds = 1000
/** npm and the terminal both pass on one Ctrl-C, and a terminal that closes says so more than once. */
const sameMilliseconds = 1000

/**
 * The life of a process: read the configuration, open, wait for a signal, close, end. A second signal ends it at once.
 *
 * @param open starts the work; what it gives is disposed of at the end
 */
export async function runProcess(name: string, open: (config: Config, log: Logger) => Promise<AsyncDisposable>) {
  keepInspectorShut()
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
  // From the start on: what is told to stop while it opens ends opening, and then stops in order.
  const asked = untilAsked(config.hasParent).then((reason) => {
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

  const overdue = await asked
  await work[Symbol.asyncDispose]()
  await tracing[Symbol.asyncDispose]()
  clearTimeout(overdue)
  log.info('Stopped')
  // Nothing is left to do: a connection that somebody forgot must not keep the process.
  setTimeout(() => process.exit(), lingerMilliseconds).unref()
}

/**
 * Unless somebody listens for it, Node answers SIGUSR1 with an inspector, which lets everybody who can connect to it do
 * everything that this process can. Any process of the same user may send it.
 */
export function keepInspectorShut(): void {
  process.on('SIGUSR1', () => {})
}

/** Resolves with the reason to stop. A person's second signal ends the process from then on. */
function untilAsked(hasParent: boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let askedAt: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      askedAt ??= Date.now()
      if (signal !== 'SIGHUP' && Date.now() - askedAt > sameMilliseconds) process.exit(1)
      resolve(signal)
    })
  }
  if (hasParent) void untilParentGone().then(() => resolve('the parent process exited'))
  void findAncestry()
    .then(untilLauncherGone)
    .then(() => resolve('npm exited'))
  return promise
}
