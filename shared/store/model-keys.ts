import type { HostedProvider } from '../config/models-settings.ts'
import type { OwnKeys } from '../llm/own-keys.ts'
import type { ModelKeyRow } from '../models/tables.ts'
import { decryptJson, encryptJson, type PlatformSecret } from '../secrets.ts'
import { query, type Database } from './database.ts'

type KeyRow = Pick<ModelKeyRow, 'workspace_id' | 'provider' | 'key'>

/** The id of the row of a key, for which it is encrypted: it is good only for that workspace and that provider. */
function idOf({ workspace_id, provider }: Pick<KeyRow, 'workspace_id' | 'provider'>): string {
  return `${workspace_id}:${provider}`
}

/**
 * Sets a workspace's own key of a provider, in place of one from before.
 *
 * @param secret the platform's own, which encrypts the key
 */
export async function setModelKey(
  db: Database,
  secret: PlatformSecret,
  given: { workspaceId: string; provider: HostedProvider; key: string; accountId: string },
): Promise<void> {
  const { workspaceId, provider, accountId } = given
  const id = idOf({ workspace_id: workspaceId, provider })
  const key = await encryptJson(secret, id, { key: given.key })
  await query(
    db,
    `insert into model_keys (id, workspace_id, provider, key, set_by) values (:id, :workspaceId, :provider, :key, :accountId)
     on conflict (workspace_id, provider) do update set key = excluded.key, set_by = excluded.set_by, set_at = now()`,
    { id, workspaceId, provider, key, accountId },
  )
}

/** False when the workspace has no key of the provider. */
export async function deleteModelKey(db: Database, workspaceId: string, provider: HostedProvider): Promise<boolean> {
  return (await db('model_keys').where({ workspace_id: workspaceId, provider }).delete()) === 1
}

/** The providers of which a workspace has keys, without the keys. */
export async function listModelKeys(
  db: Database,
  workspaceId: string,
): Promise<{ provider: HostedProvider; setAt: string; setBy: string | null }[]> {
  const rows = await db('model_keys')
    .where({ workspace_id: workspaceId })
    .orderBy('provider')
    .select('provider', 'set_at', 'set_by')
  return rows.map(({ provider, set_at, set_by }) => ({ provider, setAt: set_at.toISOString(), setBy: set_by }))
}

/** The keys of a bot's workspace, decrypted. */
export async function readModelKeys(db: Database, secret: PlatformSecret, botId: string): Promise<OwnKeys> {
  const rows = await query<KeyRow>(
    db,
    `select model_keys.workspace_id, provider, key from bots join model_keys using (workspace_id) where bots.id = :botId`,
    { botId },
  )
  const keys = await Promise.all(
    rows.map(async (row) => {
      const { key } = (await decryptJson(secret, idOf(row), row.key)) as { key: string }
      return [row.provider, key] as const
    }),
  )
  return Object.fromEntries(keys)
}
