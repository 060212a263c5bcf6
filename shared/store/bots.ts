import { page, toPage, type Page } from './pagination.ts'
import type { SortedPageRequest } from './listing.ts'
import type { OwnLimits } from '../config/code-limits.ts'
import { codeColumns } from './bundles.ts'
import { query, type Database } from './database.ts'
import type { CodeActionDefinitions } from '../models/code-action-definitions.ts'
import type { BotDefinition } from '../models/bot-definition.ts'
import type { Retention } from '../models/retention.ts'
import type { BotRow, BotVersionRow, CodeKind, Permissions, RetryPolicy } from '../models/tables.ts'

export interface NewBot {
  id: string
  workspaceId: string
  name: string
  permissions: Permissions
  limits: OwnLimits
  keepsPrompts: boolean
  retention: Retention
  definition: Record<string, unknown>
  /** The address of the code of a bot under development. */
  url?: string | undefined
  /** Encrypted. */
  secrets: string
}

export async function insertBot(db: Database, bot: NewBot): Promise<void> {
  await db('bots').insert({
    id: bot.id,
    workspace_id: bot.workspaceId,
    name: bot.name,
    permissions: bot.permissions,
    limits: bot.limits,
    keeps_prompts: bot.keepsPrompts,
    retention: bot.retention,
    definition: bot.definition,
    url: bot.url ?? null,
    secrets: bot.secrets,
  })
}

export async function findBot(db: Database, workspaceId: string, id: string): Promise<BotRow | undefined> {
  return db('bots').where({ workspace_id: workspaceId, id }).first()
}

/** The workspace of a bot; undefined when there is no such bot. */
export async function findWorkspaceOf(db: Database, id: string): Promise<string | undefined> {
  return (await db('bots').where({ id }).first('workspace_id'))?.workspace_id
}

/** As `findBot`, with a lock that prevents other changes until the transaction ends. */
export async function lockBot(transaction: Database, workspaceId: string, id: string): Promise<BotRow | undefined> {
  // Messages that are stored meanwhile refer to the bot; this lock does not block them.
  return transaction('bots').where({ workspace_id: workspaceId, id }).forNoKeyUpdate().first()
}

/** Marks a locked bot as one whose rows are about to be deleted. A repeated deletion keeps the start of the first one. */
export async function beginDeletion(transaction: Database, id: string): Promise<void> {
  await query(transaction, 'update bots set deletion_began_at = coalesce(deletion_began_at, now()) where id = :id', {
    id,
  })
}

/** Keeps a bot in its workspace until the transaction ends. False when the workspace has no such bot. */
export async function keepBot(transaction: Database, workspaceId: string, id: string): Promise<boolean> {
  return (await transaction('bots').where({ workspace_id: workspaceId, id }).forShare().first('id')) !== undefined
}

/** Moves a bot to another workspace. Its rows follow: they name the bot, and none names the workspace. */
export async function moveBot(
  transaction: Database,
  { id, from, to }: { id: string; from: string; to: string },
): Promise<void> {
  await transaction('bots')
    .where({ workspace_id: from, id })
    .update({ workspace_id: to, updated_at: transaction.fn.now(3) })
}

/** Sets the given fields and leaves the others unchanged. */
export async function updateBotFields(
  db: Database,
  workspaceId: string,
  id: string,
  fields: {
    name?: string | undefined
    permissions?: Permissions | undefined
    limits?: OwnLimits | undefined
    keepsPrompts?: boolean | undefined
    retention?: Retention | undefined
    /** Null removes it. */
    url?: string | null | undefined
    definition: Record<string, unknown>
    /** Encrypted. */
    secrets?: string | undefined
  },
): Promise<void> {
  await db('bots')
    .where({ workspace_id: workspaceId, id })
    .update({
      ...(fields.name !== undefined && { name: fields.name }),
      ...(fields.permissions !== undefined && { permissions: fields.permissions }),
      ...(fields.limits !== undefined && { limits: fields.limits }),
      ...(fields.keepsPrompts !== undefined && { keeps_prompts: fields.keepsPrompts }),
      ...(fields.retention !== undefined && { retention: fields.retention }),
      ...(fields.url !== undefined && { url: fields.url }),
      definition: fields.definition,
      ...(fields.secrets !== undefined && { secrets: fields.secrets }),
      updated_at: db.fn.now(3),
    })
}

/** The bot whose code calls. */
export async function findOwnBot(db: Database, id: string): Promise<BotRow | undefined> {
  return db('bots').where({ id }).first()
}

/** Changes the definition of the bot whose code calls, unless it has been deleted. */
export async function changeOwnDefinition(
  transaction: Database,
  id: string,
  change: (row: BotRow) => Record<string, unknown>,
): Promise<void> {
  const row = await transaction('bots').where({ id }).forNoKeyUpdate().first()
  if (!row) return
  await transaction('bots')
    .where({ id })
    .update({ definition: change(row), updated_at: transaction.fn.now(3) })
}

/** The bot's own limits; empty when the bot has been deleted. */
export async function findOwnLimits(db: Database, id: string): Promise<OwnLimits> {
  return (await db('bots').where({ id }).first('limits'))?.limits ?? {}
}

/** Whether the code of a bot runs on its author's machine. */
export async function isDevelopedElsewhere(db: Database, id: string): Promise<boolean> {
  return (await db('bots').where({ id }).whereNotNull('url').first('id')) !== undefined
}

/**
 * Deletes a bot and all that belongs to it. False when the workspace has no such bot.
 *
 * The rows of the bot go after its own row, and writes of its events lock their rows before the bot's, which foreign keys
 * make them lock. The one that PostgreSQL aborts is repeated.
 */
export async function deleteBotRow(db: Database, workspaceId: string, id: string): Promise<boolean> {
  const deleted = await query(db, 'delete from bots where workspace_id = :workspaceId and id = :id returning id', {
    workspaceId,
    id,
  })
  return deleted.length === 1
}

export interface BotFilter {
  /** True for bots under development, false for those in production. */
  dev: boolean
  /** Tags that a bot must all have. */
  tags?: Record<string, string>
  /** Names of integrations of which at least one is installed. */
  integrationNames?: string[]
  /** Names of plugins of which the bot has at least one. */
  pluginNames?: string[]
}

/** One page of a workspace's bots, newest first unless requested otherwise. */
export async function pageOfBots(
  db: Database,
  workspaceId: string,
  { dev, tags, integrationNames, pluginNames }: BotFilter,
  request: SortedPageRequest,
): Promise<Page<BotRow>> {
  const rows: BotRow[] = await db('bots')
    .where({ workspace_id: workspaceId })
    .whereRaw(`coalesce((definition ->> 'dev')::boolean, false) = ?`, [dev])
    .modify((query) => {
      if (tags) query.whereRaw(`definition -> 'tags' @> ?::jsonb`, [JSON.stringify(tags)])
      if (integrationNames) {
        const installed = db('installations').whereRaw('installations.bot_id = bots.id')
        query.whereExists(installed.whereIn('integration', integrationNames))
      }
      if (pluginNames) {
        const aliases = `jsonb_path_query(bots.definition, '$.plugins.*.id')`
        query.whereExists(
          db('plugins').whereIn('name', pluginNames).whereRaw(`to_jsonb(plugins.id) in (select ${aliases})`),
        )
      }
      page(query, request, request.column)
    })
  return toPage(rows, request, (row) => ({ createdAt: row[request.column], id: row.id }))
}

export interface NewBotVersion {
  id: string
  botId: string
  kind: CodeKind
  hash: string
  bundleId: string
  flows: string | null
  hasFlowsInCode: boolean
  /** The positions of nodes, as JSON. */
  layouts?: string | null
  /** Whether a flow begins with a new conversation. */
  startsWithConversation: boolean
  /** Nodes of earlier versions that it has under other names; null for none. */
  renamedNodes: Readonly<Record<string, string>> | null
  hooks: string[]
  actions: string[]
  retry?: RetryPolicy
  actionDefinitions?: CodeActionDefinitions
  /** The account that uploads the version. */
  authorId: string
  /** The author's description of the version. */
  description?: string | undefined
}

/** Stores a version and deploys it. */
export async function deployVersion(db: Database, version: NewBotVersion): Promise<void> {
  await db('bot_versions').insert({
    id: version.id,
    bot_id: version.botId,
    kind: version.kind,
    hash: version.hash,
    bundle_id: version.bundleId,
    flows: version.flows,
    has_flows_in_code: version.hasFlowsInCode,
    layouts: version.layouts ?? null,
    starts_with_conversation: version.startsWithConversation,
    renamed_nodes: version.renamedNodes,
    hooks: version.hooks,
    actions: version.actions,
    retry: version.retry ?? null,
    action_definitions: version.actionDefinitions ?? null,
    author_id: version.authorId,
    description: version.description ?? null,
  })
  await setDeployedVersion(db, version.botId, version.id)
}

/** Makes a version the one that runs. */
export async function setDeployedVersion(db: Database, botId: string, versionId: string): Promise<void> {
  await db('bots')
    .where({ id: botId })
    .update({ version_id: versionId, deployed_at: db.raw('clock_timestamp()'), updated_at: db.fn.now(3) })
}

/** The columns of a version that a run needs. */
export type RunnableVersionRow = Pick<
  BotVersionRow,
  'id' | 'kind' | 'hooks' | 'actions' | 'retry' | 'flows' | 'renamed_nodes'
> & { script: string; source_map: string }

export async function findVersion(db: Database, botId: string, id: string): Promise<RunnableVersionRow | undefined> {
  const { script, source_map: sourceMap } = codeColumns('bot_versions')
  const [row] = await query<RunnableVersionRow>(
    db,
    `select bot_versions.id, bot_versions.kind, ${script} as script, ${sourceMap} as source_map,
       hooks, actions, retry, flows, renamed_nodes
     from bot_versions left join bundles on bundles.id = bundle_id
     where bot_id = :botId and bot_versions.id = :id`,
    { botId, id },
  )
  return row
}

/** The code of a version as it was uploaded, and the flows beside it. */
export interface DeployedUpload {
  versionId: string
  source: string
  /** The source map, as JSON. */
  sourceMap: string | null
  flows: string | null
  layouts: string | null
}

/** The uploaded code of the deployed version, and the flows beside it; undefined while no code is deployed. */
export async function findDeployedUpload(db: Database, botId: string): Promise<DeployedUpload | undefined> {
  const [row] = await query<
    { id: string; source: string; given_map: string | null } & Pick<
      BotVersionRow,
      'flows' | 'has_flows_in_code' | 'layouts'
    >
  >(
    db,
    `select bot_versions.id, ${codeColumns('bot_versions').source} as source, given_map, flows, has_flows_in_code, layouts
     from bots join bot_versions on bot_versions.id = bots.version_id left join bundles on bundles.id = bundle_id
     where bots.id = :botId`,
    { botId },
  )
  if (!row) return undefined
  const { id: versionId, source, given_map: sourceMap, layouts } = row
  return { versionId, source, sourceMap, flows: row.has_flows_in_code ? null : row.flows, layouts }
}

/** The flows of the deployed version, as JSON, and the nodes that it has renamed; undefined while it has no flows. */
export async function findDeployedFlows(
  db: Database,
  botId: string,
): Promise<{ flows: string; renamed_nodes: Record<string, string> | null } | undefined> {
  const row = await db('bots')
    .join('bot_versions', 'bot_versions.id', 'bots.version_id')
    .where('bots.id', botId)
    .first('flows', 'renamed_nodes')
  return row && row.flows !== null ? { ...row, flows: row.flows } : undefined
}

/** Whether the deployed version has a flow, and a node in it; undefined when it has no such flow. */
export async function findDeployedFlow(
  db: Database,
  botId: string,
  { flow, node }: { flow: string; node: string | undefined },
): Promise<{ has_node: boolean } | undefined> {
  const [row] = await query<{ has_node: boolean }>(
    db,
    `select exists (
       select from jsonb_array_elements(flow.value -> 'nodes') node where node.value ->> 'id' = :node
     ) as has_node
     from bots join bot_versions on bot_versions.id = bots.version_id,
       jsonb_array_elements(bot_versions.flows::jsonb) flow
     where bots.id = :botId and flow.value ->> 'id' = :flow`,
    { botId, flow, node: node ?? null },
  )
  return row
}

/** The own actions of a bot's deployed version, with what its code and its definition say of them. */
export async function findOwnActions(
  db: Database,
  botId: string,
): Promise<
  | (Pick<BotVersionRow, 'kind' | 'actions' | 'action_definitions'> & { defined: BotDefinition['actions'] | null })
  | undefined
> {
  return db('bots')
    .join('bot_versions', 'bot_versions.id', 'bots.version_id')
    .where('bots.id', botId)
    .first('kind', 'actions', 'action_definitions', db.raw(`bots.definition -> 'actions' as defined`))
}

/** The declarations of the deployed version; undefined while no code is deployed. */
export async function findDeployedVersion(
  db: Database,
  botId: string,
): Promise<Pick<BotVersionRow, 'id' | 'kind' | 'hash' | 'hooks' | 'actions' | 'created_at'> | undefined> {
  return db('bots')
    .join('bot_versions', 'bot_versions.id', 'bots.version_id')
    .where('bots.id', botId)
    .first('bot_versions.id', 'kind', 'hash', 'hooks', 'actions', 'bot_versions.created_at')
}
