import { decryptJson, encryptJson, type PlatformSecret } from '../secrets.ts'
import type { Database } from './database.ts'

interface EncryptedColumn {
  table: string
  column: string
  /** The column with the id for which the value is encrypted; `id` by default. */
  owner?: string
}

/**
 * The columns with values that are encrypted for their row. Those of idempotency keys and of inspections are left out:
 * they are read for a day at most.
 */
export const encryptedColumns: EncryptedColumn[] = [
  { table: 'bots', column: 'secrets' },
  { table: 'integrations', column: 'secrets' },
  { table: 'installations', column: 'configuration' },
  { table: 'inbox_webhooks', column: 'secret', owner: 'workspace_id' },
  { table: 'model_keys', column: 'key' },
  { table: 'data_requests', column: 'subject' },
]

/** The result of a re-encryption. */
export interface Reencryption {
  /** Values that were encrypted again. */
  reencrypted: number
  /** Values that the current secret had encrypted already. */
  current: number
  /** The ids of rows whose values neither secret decrypts. They stay as they are. */
  unreadable: string[]
}

interface EncryptedRow {
  id: string
  encrypted: string
}

const batchSize = 100

/**
 * Encrypts with the current secret every value that the accepted one has encrypted. Processes may read and write
 * meanwhile; a call that is interrupted is repeated.
 *
 * @param signal ends the work after the present batch
 */
export async function reencrypt(
  db: Database,
  secret: PlatformSecret,
  { signal }: { signal?: AbortSignal } = {},
): Promise<Reencryption> {
  const result: Reencryption = { reencrypted: 0, current: 0, unreadable: [] }
  for (const { table, column, owner = 'id' } of encryptedColumns) {
    let last = ''
    for (;;) {
      if (signal?.aborted) return result
      const rows: EncryptedRow[] = await db(table)
        .select({ id: owner, encrypted: column })
        .whereNotNull(column)
        .where(owner, '>', last)
        .orderBy(owner)
        .limit(batchSize)
      for (const row of rows) await reencryptRow(db, secret, { table, column, owner, row }, result)
      if (rows.length < batchSize) break
      last = rows.at(-1)!.id
    }
  }
  return result
}

async function reencryptRow(
  db: Database,
  secret: PlatformSecret,
  { table, column, owner, row }: Required<EncryptedColumn> & { row: EncryptedRow },
  result: Reencryption,
): Promise<void> {
  let present: EncryptedRow | undefined = row
  while (present) {
    const { id, encrypted }: EncryptedRow = present
    if (await decrypts({ current: secret.current }, present)) {
      result.current += 1
      return
    }
    if (!(await decrypts(secret, present))) {
      result.unreadable.push(id)
      return
    }
    const value = (await decryptJson(secret, id, encrypted)) as object
    const changed = await db(table)
      .where({ [owner]: id, [column]: encrypted })
      .update({ [column]: await encryptJson(secret, id, value) })
    if (changed > 0) {
      result.reencrypted += 1
      return
    }
    // Another process has written the value meanwhile, perhaps with the accepted secret; or the row is gone.
    present = await db(table)
      .select({ id: owner, encrypted: column })
      .where({ [owner]: id })
      .whereNotNull(column)
      .first()
  }
}

async function decrypts(secret: PlatformSecret, { id, encrypted }: EncryptedRow): Promise<boolean> {
  return decryptJson(secret, id, encrypted).then(
    () => true,
    () => false,
  )
}
