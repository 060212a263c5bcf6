import { LRUCache } from 'lru-cache'
import { findVersion } from '#shared/store/bots.ts'
import type { Database } from '#shared/store/database.ts'
import type { BotVersionRow } from '#shared/store/tables.ts'

/** What running a version takes. */
export type BotVersion = Pick<BotVersionRow, 'id' | 'bot_id' | 'script' | 'source_map' | 'hooks' | 'actions' | 'retry'>

export interface Bundles {
  /** A version of a bot; undefined when the bot was deleted meanwhile. */
  get(botId: string, versionId: string): Promise<BotVersion | undefined>
}

/** Characters of code and source maps that a worker keeps at hand. */
const keptCharacters = 64 * 1024 * 1024

/** Keeps versions at hand. They never change, so what is kept is never stale. */
export function openBundles(db: Database): Bundles {
  const kept = new LRUCache<string, BotVersion>({
    maxSize: keptCharacters,
    sizeCalculation: ({ script, source_map: map }) => script.length + map.length + 1,
  })
  return {
    async get(botId, versionId) {
      const found = kept.get(versionId) ?? (await findVersion(db, botId, versionId))
      if (found) kept.set(versionId, found)
      return found
    },
  }
}
