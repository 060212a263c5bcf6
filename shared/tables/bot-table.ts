import type { BotContext } from '../rpc/caller.ts'
import { ApiError, notFound } from '../errors.ts'
import type { BotTableRow } from '../models/tables.ts'
import { findWorkspaceOf } from '../store/bots.ts'
import type { Database } from '../store/database.ts'
import { findTable, tableUsage, type NewBotTable } from '../store/bot-tables.ts'
import type { Definition } from './definition.ts'

/**
 * The bot whose tables a caller may use: its own code, and integrations of its workspace that it has installed.
 * @throws ApiError `Forbidden` for an integration of another workspace, which is code of strangers
 */
export async function ownerOf({ caller }: BotContext, db: Database): Promise<string> {
  const { botId, installation } = caller
  if (!installation || installation.integration_workspace_id === (await findWorkspaceOf(db, botId))) return botId
  throw new ApiError(
    'Forbidden',
    `The integration '${installation.alias}' belongs to another workspace, and cannot use the tables of the bot: ` +
      'deploy a copy of it in this workspace, or give the bot an action that uses them',
  )
}

/**
 * Finds a table of the caller's bot.
 *
 * @param table its id or name
 * @param isLocked see `findTable` of the store
 * @throws ApiError `ResourceNotFound`, also for a table of another bot
 */
export async function existingTable(
  context: BotContext,
  table: string,
  { db = context.db, isLocked = false }: { db?: Database; isLocked?: boolean } = {},
): Promise<BotTableRow> {
  const found = await findTable(db, await ownerOf(context, db), table, { isLocked })
  if (found) return found
  throw notFound(`Table '${table.slice(0, 100)}'`)
}

/**
 * Refuses a change, already made in this transaction, after which the bot's tables take more than they may.
 * @throws ApiError `QuotaExceeded` that names the figure and the setting
 */
export async function assertQuota({ config, caller }: BotContext, db: Database): Promise<void> {
  const { tables, rows } = await tableUsage(db, caller.botId)
  const { perBot, rowsPerBot } = config.tables
  if (tables > perBot) {
    throw new ApiError('QuotaExceeded', `A bot has at most ${perBot} tables (BOT_TABLES): delete one first`, {
      metadata: { limit: perBot, setting: 'BOT_TABLES' },
    })
  }
  if (rows > rowsPerBot) {
    throw new ApiError(
      'QuotaExceeded',
      `The tables of a bot have at most ${rowsPerBot} rows, each counted as often as the factor of its table ` +
        `(BOT_TABLE_ROWS); there would be ${rows}`,
      { metadata: { limit: rowsPerBot, setting: 'BOT_TABLE_ROWS' } },
    )
  }
}

export function nameTaken(name: string): ApiError {
  return new ApiError('AlreadyExists', `The bot has a table '${name}' already`)
}

export function definitionOf({
  columns,
  required,
  next_field,
}: Pick<BotTableRow, 'columns' | 'required' | 'next_field'>): Definition {
  return { columns, required, nextField: next_field }
}

export function toStoredDefinition({ columns, required, nextField }: Definition) {
  return { columns, required: [...required], next_field: nextField } satisfies Partial<NewBotTable>
}

/**
 * Checks the name of a key column.
 * @throws ApiError `InvalidPayload` when it is no column, or one whose values cannot be keys
 */
export function assertKeyColumn({ columns }: Definition, name: string): void {
  if (!Object.hasOwn(columns, name)) {
    throw new ApiError('InvalidPayload', `keyColumn: the table has no column '${name.slice(0, 60)}'`)
  }
  const { type, 'x-zui': settings } = columns[name]!
  if (settings.computed) throw new ApiError('InvalidPayload', `keyColumn: '${name}' is computed`)
  if (type === 'string' || type === 'number' || type === 'boolean') return
  throw new ApiError('InvalidPayload', `keyColumn: '${name}' must hold strings, numbers or booleans`)
}
