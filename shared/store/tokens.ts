import { query, type Database } from './database.ts'
import type { TokenRow } from './tables.ts'

/** Whose a token is that is not a person's. */
export type TokenOwner = { botId: string } | { integrationId: string }

/** What the Admin API shows of a token. */
export type ShownToken = Pick<TokenRow, 'id' | 'note' | 'created_at'>

export async function insertToken(
  db: Database,
  token: { id: string; hash: Buffer; note: string },
  owner: TokenOwner,
): Promise<ShownToken> {
  const [row] = await db('tokens')
    .insert({ id: token.id, hash: token.hash, note: token.note, kind: kindOf(owner), ...columnsOf(owner) })
    .returning(['id', 'note', 'created_at'])
  if (!row) throw new Error('The inserted token was not returned')
  return row
}

/** The tokens of a bot or of an integration, newest first. */
export async function listTokens(db: Database, owner: TokenOwner): Promise<ShownToken[]> {
  return db('tokens')
    .where(columnsOf(owner))
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .select('id', 'note', 'created_at')
}

/** Deletes a token of one of a workspace's bots or integrations. False when there is none of that kind and id. */
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

function kindOf(owner: TokenOwner): 'bot' | 'integration' {
  return 'botId' in owner ? 'bot' : 'integration'
}

function columnsOf(owner: TokenOwner) {
  return 'botId' in owner ? { bot_id: owner.botId } : { integration_id: owner.integrationId }
}
