import { EventEmitter } from 'node:events'
import { LRUCache } from 'lru-cache'
import type { Config } from './config/config.ts'
import type { Logger } from './telemetry/logger.ts'
import type { Signals } from './signals/signals.ts'
import type { Database } from './store/database.ts'
import { findInstallationByWebhook } from './store/installations.ts'
import type { Installation } from './models/tables.ts'

/** The topic that says which installation is not any more as it was. */
export const installationsTopic = 'installations'

/** For this long a process may go by what an installation was, should the signal of a change not reach it. */
const ageMilliseconds = 5000

/** Installations by their address. Nearly every chat request names one, and they hardly ever change. */
export interface Installations {
  /** @throws Error when the configuration was encrypted with another secret */
  find(webhookId: string): Promise<Installation | undefined>
  /**
   * Makes a change hold: from now on in this process, and in the others as soon as they hear of it. To be called when
   * the change or deletion is committed.
   */
  changed(webhookId: string): Promise<void>
  /** Calls back with the address of each installation that this process hears has changed. @returns ends that */
  onChange(listener: (webhookId: string) => void): () => void
}

/** What this process remembers of the installations. It listens for changes from the first look-up on. */
export function openInstallations(config: Config, log: Logger, db: Database, signals: Signals): Installations {
  const recent = new LRUCache<string, Installation>({ max: 10_000, ttl: ageMilliseconds })
  const changed = new EventEmitter().setMaxListeners(0)
  let changes = 0
  let listening = false

  function forget(webhookId: string): void {
    changes++
    recent.delete(webhookId)
    changed.emit('changed', webhookId)
  }

  /** Nobody waits for it: a chat works without, if need be. */
  async function listen(): Promise<void> {
    listening = true
    try {
      await signals.subscribe(installationsTopic, (signal) => forget((signal as { webhookId: string }).webhookId))
    } catch (error) {
      listening = false
      log.warn(
        { err: error },
        'Subscribing to changes of installations failed; changes take effect after the cache expires',
      )
    }
  }

  return {
    async find(webhookId) {
      if (!listening) void listen()
      const remembered = recent.get(webhookId)
      if (remembered) return remembered
      const changesBefore = changes
      const found = await findInstallationByWebhook(db, config.secret, webhookId)
      // Where something changed meanwhile, this may be what it was before.
      if (found && changes === changesBefore) recent.set(webhookId, found)
      return found
    },

    async changed(webhookId) {
      forget(webhookId)
      try {
        await signals.publish(installationsTopic, { webhookId })
      } catch (error) {
        log.error({ err: error, webhookId }, 'Publishing the change of an installation failed')
      }
    },

    onChange(listener) {
      if (!listening) void listen()
      changed.on('changed', listener)
      return () => changed.off('changed', listener)
    },
  }
}
