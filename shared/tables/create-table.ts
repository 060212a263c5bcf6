import { newId } from '../ids.ts'
import type { BotTableRow } from '../models/tables.ts'
import type { BotContext } from '../rpc/caller.ts'
import { insertTable } from '../store/bot-tables.ts'
import type { Database } from '../store/database.ts'
import { assertKeyColumn, assertQuota, ownerOf, toStoredDefinition } from './bot-table.ts'
import { newDefinition } from './definition.ts'

export interface NewTable {
  name: string
  schema: Record<string, unknown>
  factor?: number
  frozen?: boolean
  keyColumn?: string | null
  tags?: Record<string, string>
  isComputeEnabled?: boolean
}

/**
 * Creates a table in a transaction.
 *
 * @returns undefined when the bot has a table of that name
 * @throws ApiError `QuotaExceeded`, and errors of the schema
 */
export async function createTableIn(
  context: BotContext,
  db: Database,
  given: NewTable,
): Promise<BotTableRow | undefined> {
  const definition = newDefinition(given.schema)
  const { name, factor = 1, frozen = false, keyColumn = null, tags = {}, isComputeEnabled = true } = given
  if (keyColumn !== null) assertKeyColumn(definition, keyColumn)
  const created = await insertTable(db, await ownerOf(context, db), {
    ...toStoredDefinition(definition),
    id: newId('table'),
    name,
    factor,
    is_frozen: frozen,
    key_column: keyColumn,
    tags,
    is_compute_enabled: isComputeEnabled,
  })
  if (created) await assertQuota(context, db)
  return created
}
