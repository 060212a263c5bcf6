import { page, toPage, type Page, type PageRequest } from '../cursor.ts'
import type { Database } from './database.ts'
import type { BotRow, BotVersionRow, Permissions, RetryPolicy } from './tables.ts'

export async function insertBot(
  db: Database,
  bot: { id: string; workspaceId: string; name: string; permissions: Permissions },
): Promise<BotRow> {
  const [row] = await db('bots')
    .insert({ id: bot.id, workspace_id: bot.workspaceId, name: bot.name, permissions: bot.permissions })
    .returning('*')
  if (!row) throw new Error('The inserted bot was not returned')
  return row
}

export async function findBot(db: Database, workspaceId: string, id: string): Promise<BotRow | undefined> {
  return db('bots').where({ workspace_id: workspaceId, id }).first()
}

/** Sets the given fields and leaves the others as they are. Undefined when the workspace has no such bot. */
export async function updateBotFields(
  db: Database,
  workspaceId: string,
  id: string,
  fields: { name?: string | undefined; permissions?: Permissions | undefined },
): Promise<BotRow | undefined> {
  const [row] = await db('bots')
    .where({ workspace_id: workspaceId, id })
    .update({
      ...(fields.name !== undefined && { name: fields.name }),
      ...(fields.permissions !== undefined && { permissions: fields.permissions }),
      updated_at: db.fn.now(3),
    })
    .returning('*')
  return row
}

/** Deletes a bot and all that belongs to it. False when the workspace has no such bot. */
export async function deleteBotRow(db: Database, workspaceId: string, id: string): Promise<boolean> {
  return (await db('bots').where({ workspace_id: workspaceId, id }).delete()) === 1
}

/** One page of a workspace's bots, newest first. */
export async function pageOfBots(db: Database, workspaceId: string, request: PageRequest): Promise<Page<BotRow>> {
  const rows: BotRow[] = await db('bots')
    .where({ workspace_id: workspaceId })
    .modify((query) => page(query, request))
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

export interface NewBotVersion {
  id: string
  botId: string
  hash: string
  source: string
  script: string
  sourceMap: string
  hooks: string[]
  actions: string[]
  retry?: RetryPolicy
}

/** Stores a version and puts it in service. */
export async function deployVersion(db: Database, version: NewBotVersion): Promise<BotRow> {
  await db('bot_versions').insert({
    id: version.id,
    bot_id: version.botId,
    hash: version.hash,
    source: version.source,
    script: version.script,
    source_map: version.sourceMap,
    hooks: version.hooks,
    actions: version.actions,
    retry: version.retry ?? null,
  })
  const [row] = await db('bots')
    .where({ id: version.botId })
    .update({ version_id: version.id, deployed_at: db.raw('clock_timestamp()'), updated_at: db.fn.now(3) })
    .returning('*')
  if (!row) throw new Error('The bot was deleted while its version was stored')
  return row
}

export async function findVersion(db: Database, botId: string, id: string): Promise<BotVersionRow | undefined> {
  return db('bot_versions').where({ bot_id: botId, id }).first()
}

/** What the version in service declares; undefined while no code is deployed. */
export async function findDeployedVersion(
  db: Database,
  botId: string,
): Promise<Pick<BotVersionRow, 'id' | 'hash' | 'hooks' | 'actions' | 'created_at'> | undefined> {
  return db('bots')
    .join('bot_versions', 'bot_versions.id', 'bots.version_id')
    .where('bots.id', botId)
    .first('bot_versions.id', 'hash', 'hooks', 'actions', 'bot_versions.created_at')
}
