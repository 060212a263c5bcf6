import type { Database } from '#shared/store/database.ts'
import { findPermissions } from '#shared/store/permissions.ts'
import type { Permissions } from '#shared/models/tables.ts'

/** Finds what was granted to the code of a bot, or of an integration that is installed on it. */
export type FindGrant = (botId: string, integrationId?: string) => Promise<Permissions>

/**
 * Looks up grants, each once at a time: who asks during a look-up shares the next one, which begins after they asked, so
 * that a grant that is taken back holds at once. Hundreds of requests that begin together would otherwise hold all of the
 * worker's connections to the database, and whatever else needs one would find none in time.
 */
export function openGrants(db: Database): FindGrant {
  const inFlight = new Map<string, Promise<unknown>>()
  /** Look-ups that wait for the one in flight. */
  const next = new Map<string, Promise<Permissions>>()

  async function lookUp(key: string, botId: string, integrationId?: string): Promise<Permissions> {
    await inFlight.get(key)?.catch(() => {})
    next.delete(key)
    const looking = findPermissions(db, botId, integrationId)
    inFlight.set(key, looking)
    try {
      return await looking
    } finally {
      if (inFlight.get(key) === looking) inFlight.delete(key)
    }
  }

  return (botId, integrationId) => {
    const key = integrationId ?? botId
    const known = next.get(key)
    if (known) return known
    const looking = lookUp(key, botId, integrationId)
    next.set(key, looking)
    return looking
  }
}
