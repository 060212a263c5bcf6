import { ApiError, notFound } from '../errors.ts'
import { query, type Database } from './database.ts'
import type { TokenRow } from '../models/tables.ts'

/** The owner of a token. */
export type TokenOwner = { accountId: string } | { botId: string } | { integrationId: string }

/** The columns of a token that the Admin API shows. */
export type ShownToken = Pick<TokenRow, 'id' | 'note' | 'created_at'>

/** Upper bound of tokens per account, bot or integration. */
export const maxTokens = 100

/**
 * @throws ApiError `LimitExceeded` when the owner has the maximum of tokens, `ResourceNotFound` when it was just
 *   deleted
 */
export async function insertToken(
  db: Database,
  token: { id: string; hash: Buffer; note: string },
  owner: TokenOwner,
): Promise<ShownToken> {
  const { kind, table, column, id } = describeOwner(owner)
  return db.transaction(async (transaction) => {
    // The lock serialises insertions, so that concurrent ones do not count the same tokens.
    if (!(await transaction(table).where({ id }).forNoKeyUpdate().first('id'))) {
      throw notFound(`'${id}'`, 'it has just been deleted')
    }
    const present = await transaction('tokens')
      .where({ [column]: id })
      .limit(maxTokens)
      .pluck('id')
    if (present.length >= maxTokens) {
      throw new ApiError('LimitExceeded', `${owners[kind]} has at most ${maxTokens} tokens: delete one first`, {
        metadata: { limit: maxTokens },
      })
    }
    const [row] = await transaction('tokens')
      .insert({ ...token, kind, [column]: id })
      .returning(['id', 'note', 'created_at'])
    if (!row) throw new Error('The inserted token was not returned')
    return row
  })
}

/** An owner's tokens, newest first. */
export async function listTokens(db: Database, owner: TokenOwner): Promise<ShownToken[]> {
  const { column, id } = describeOwner(owner)
  return db('tokens')
    .where({ [column]: id })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .select('id', 'note', 'created_at')
}

/** Deletes a token of a bot or integration of a workspace. False when there is no such token. */
export async function deleteToken(
  db: Database,
  workspaceId: string,
  kind: 'bot' | 'integration',
  id: string,
): Promise<boolean> {
  const rows = await query<{ id: string }>(
    db,
    `delete from tokens where id = :id and kind = :kind and (
       exists (select from bots where bots.id = tokens.bot_id and workspace_id = :workspaceId)
       or exists (select from integrations where integrations.id = tokens.integration_id and workspace_id = :workspaceId)
     ) returning id`,
    { id, kind, workspaceId },
  )
  return rows.length === 1
}

const owners = { personal: 'An account', bot: 'A bot', integration: 'An integration' } as const

function describeOwner(owner: TokenOwner) {
  if ('accountId' in owner) {
    return { kind: 'personal', table: 'accounts', column: 'account_id', id: owner.accountId } as const
  }
  if ('botId' in owner) return { kind: 'bot', table: 'bots', column: 'bot_id', id: owner.botId } as const
  return { kind: 'integration', table: 'integrations', column: 'integration_id', id: owner.integrationId } as const
}
