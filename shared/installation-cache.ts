import { EventEmitter } from 'node:events'
import { LRUCache } from 'lru-cache'
import type { Config } from './config/config.ts'
import type { Logger } from './telemetry/logger.ts'
import type { Signals } from './signals/signals.ts'
import type { Database } from './store/database.ts'
import { findInstallationByWebhook } from './store/installations.ts'
import type { Installation } from './models/tables.ts'

/** The topic on which changes of installations are published. */
export const installationsTopic = 'installations'

/** Upper bound of the age of a cached installation, should the signal of a change be lost. */
const ageMilliseconds = 5000

/** Installations by webhook id. Nearly every chat request names one, and they rarely change. */
export interface Installations {
  /** @throws Error when the configuration was encrypted with another secret */
  find(webhookId: string): Promise<Installation | undefined>
  /**
   * Invalidates an installation in this process at once, and in the others by a signal. To be called after the commit
   * of the change or deletion.
   */
  changed(webhookId: string): Promise<void>
  /**
   * Calls `listener` with the webhook id of each installation whose change is received. @returns a function that
   * removes the listener
   */
  onChange(listener: (webhookId: string) => void): () => void
}

/** This process's cache of installations. It subscribes to changes at the first look-up. */
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

  /** Not awaited by look-ups: without the subscription, entries still expire. */
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
      // A row that was read before a concurrent change may be outdated, and is not cached.
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
