import type { Database } from '#shared/store/database.ts'
import { findPermissions } from '#shared/store/permissions.ts'
import type { Permissions } from '#shared/models/tables.ts'

/** Finds the permissions of the code of a bot, or of an installed integration. */
export type FindGrant = (botId: string, integrationId?: string) => Promise<Permissions>

/**
 * Looks up grants with one query at a time for each bot or integration. Calls during a query share the next query, which
 * begins after them, so that a revoked grant takes effect at once. Hundreds of concurrent requests would otherwise hold
 * all database connections of the worker, and other statements would time out.
 */
export function openGrants(db: Database): FindGrant {
  const inFlight = new Map<string, Promise<unknown>>()
  /** Queries that wait for the one in flight. */
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
