import type { Config } from './config.ts'
import { openInstallations, type Installations } from './installations.ts'
import type { Logger } from './logger.ts'
import { openQueue, type WakeQueue } from './queue.ts'
import { openSignals, type Signals } from './signals.ts'
import { openDatabase, type Database } from './store/database.ts'

/** What every operation may use, opened once for a process. */
export interface Context {
  config: Config
  log: Logger
  db: Database
  queue: WakeQueue
  signals: Signals
  installations: Installations
}

/** Opens the parts in the order in which they need each other. Disposing closes them in reverse. */
export function openContext(config: Config, log: Logger): Context & AsyncDisposable {
  const parts = new AsyncDisposableStack()
  const db = parts.adopt(openDatabase(config.database), (database) => database.destroy())
  const signals = parts.adopt(openSignals(config, db, log), (open) => open.close())
  const installations = openInstallations(config, log, db, signals)
  const queue = parts.adopt(openQueue(config, log), (open) => open.close())
  return { config, log, db, queue, signals, installations, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}
