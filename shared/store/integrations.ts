import type { Knex } from 'knex'
import type { SortedPageRequest } from './listing.ts'
import { page, toPage, type Page } from './pagination.ts'
import type { IntegrationListing } from '../models/integration.ts'
import { query, type Database } from './database.ts'
import type { CodeKind, IntegrationRow, Permissions } from '../models/tables.ts'

/** The stored code of one version of an integration. */
export interface IntegrationCode {
  codeId: string
  kind: CodeKind
  hash: string
  /** Null for code at an address. */
  bundleId: string | null
}

export interface NewIntegration extends IntegrationCode {
  id: string
  workspaceId: string
  name: string
  version: string
  definition: Record<string, unknown>
  permissions: Permissions
  /** The address of the code of an integration under development. */
  url?: string | undefined
  /** Encrypted. */
  secrets: string
}

/** @throws a unique violation when the workspace has this version of this name already */
export async function insertIntegration(db: Database, integration: NewIntegration): Promise<void> {
  await db('integrations').insert({
    id: integration.id,
    workspace_id: integration.workspaceId,
    name: integration.name,
    version: integration.version,
    definition: integration.definition,
    permissions: integration.permissions,
    url: integration.url ?? null,
    secrets: integration.secrets,
    ...codeColumns(integration),
  })
}

/** Sets the given fields and leaves the others unchanged. */
export async function updateIntegrationFields(
  db: Database,
  workspaceId: string,
  id: string,
  fields: {
    definition: Record<string, unknown>
    permissions?: Permissions | undefined
    url?: string | undefined
    secrets?: string
    code?: IntegrationCode | undefined
  },
): Promise<void> {
  await db('integrations')
    .where({ workspace_id: workspaceId, id })
    .update({
      definition: fields.definition,
      ...(fields.permissions !== undefined && { permissions: fields.permissions }),
      ...(fields.url !== undefined && { url: fields.url }),
      ...(fields.secrets !== undefined && { secrets: fields.secrets }),
      ...(fields.code && codeColumns(fields.code)),
      updated_at: db.fn.now(3),
    })
}

function codeColumns({ codeId, kind, hash, bundleId }: IntegrationCode) {
  const moved = { source: null, script: null, source_map: null }
  return { code_id: codeId, kind, hash, bundle_id: bundleId, ...moved }
}

/** The columns that the Admin API shows; the code is not read. */
const shown = [
  'id',
  'workspace_id',
  'name',
  'version',
  'definition',
  'permissions',
  'secrets',
  'url',
  'hash',
  'created_at',
  'updated_at',
] as const

export type ShownIntegration = Pick<IntegrationRow, (typeof shown)[number]>

export async function findIntegration(
  db: Database,
  workspaceId: string,
  id: string,
): Promise<ShownIntegration | undefined> {
  return db('integrations')
    .where({ workspace_id: workspaceId, id })
    .first(...shown)
}

/** As `findIntegration`, with a lock that prevents other changes until the transaction ends. */
export async function lockIntegration(
  transaction: Database,
  workspaceId: string,
  id: string,
): Promise<ShownIntegration | undefined> {
  return transaction('integrations')
    .where({ workspace_id: workspaceId, id })
    .forUpdate()
    .first(...shown)
}

/** Keeps integrations from being deleted, and from other changes of `lockIntegration`, until the transaction ends. */
export async function keepIntegrations(transaction: Database, ids: string[]): Promise<void> {
  await transaction('integrations').whereIn('id', ids).orderBy('id').forKeyShare().select('id')
}

/** The hash of an integration's code. */
export async function hashOfIntegration(db: Database, id: string): Promise<string | undefined> {
  return (await db('integrations').where({ id }).first('hash'))?.hash
}

/** The integrations that are installed on a bot. */
export async function listInstalledIntegrations(
  db: Database,
  botId: string,
): Promise<Pick<IntegrationRow, 'id' | 'name' | 'version' | 'definition' | 'code_id' | 'url'>[]> {
  const installed = db('installations').where({ bot_id: botId }).whereNotNull('integration_id')
  return db('integrations')
    .whereIn('id', installed.select('integration_id'))
    .select('id', 'name', 'version', 'definition', 'code_id', 'url')
}

/** All versions of an integration, without those under development. */
export async function listVersions(
  db: Database,
  workspaceId: string,
  name: string,
): Promise<Pick<IntegrationRow, 'id' | 'version'>[]> {
  return db('integrations').where({ workspace_id: workspaceId, name, url: null }).select('id', 'version')
}

export interface IntegrationFilter {
  name?: string
  version?: string
  /** Whether to list those under development; by default the others. */
  dev?: boolean
  visibility?: string
  /** Part of the name, title or description. */
  search?: string
  installedByBotId?: string
  /** The id of an interface that it implements. */
  interfaceId?: string
  /** The name of an interface that it implements. */
  interfaceName?: string
}

/** Restricts a query of integrations to those that implement an interface. */
export function implementing(
  rows: Knex.QueryBuilder,
  { interfaceId, interfaceName }: { interfaceId?: string | undefined; interfaceName?: string | undefined },
): void {
  for (const [field, wanted] of Object.entries({ id: interfaceId, name: interfaceName })) {
    if (wanted === undefined) continue
    rows.whereRaw(
      `jsonb_path_exists(definition, '$.interfaces.* \\? (@.${field} == $wanted)', jsonb_build_object('wanted', ?::text))`,
      [wanted],
    )
  }
}

/** Definitions may be long: of those in lists only these fields are read. */
export const listedDefinition = `jsonb_strip_nulls(jsonb_build_object(
  'title', definition -> 'title', 'description', definition -> 'description',
  'visibility', definition -> 'visibility')) as definition`

/** One page of a workspace's integrations, newest first unless requested otherwise. */
export async function pageOfIntegrations(
  db: Database,
  workspaceId: string,
  filter: IntegrationFilter,
  request: SortedPageRequest,
): Promise<Page<IntegrationListing>> {
  const { name, version, dev = false, visibility, search, installedByBotId } = filter
  const rows: IntegrationListing[] = await db('integrations')
    .where({ workspace_id: workspaceId, ...(name && { name }), ...(version && { version }) })
    .modify((query) => {
      query.whereRaw(`coalesce((definition ->> 'dev')::boolean, false) = ?`, [dev])
      if (visibility) query.whereRaw(`coalesce(definition ->> 'visibility', 'private') = ?`, [visibility])
      if (search) {
        const text = `concat_ws(E'\\n', name, definition ->> 'title', definition ->> 'description')`
        query.whereRaw(`position(lower(?) in lower(${text})) > 0`, [search])
      }
      if (installedByBotId) {
        const own = db('bots').where({ workspace_id: workspaceId, id: installedByBotId }).select('id')
        const installed = db('installations').whereIn('bot_id', own).whereNotNull('integration_id')
        query.whereIn('id', installed.select('integration_id'))
      }
      implementing(query, filter)
      page(query, request, request.column)
    })
    .select('id', 'name', 'version', 'created_at', 'updated_at', db.raw(listedDefinition))
  return toPage(rows, request, (row) => ({ createdAt: row[request.column], id: row.id }))
}

/**
 * Deletes an integration and its tokens. False when the workspace has no such integration.
 * @throws a foreign key violation while it is installed on a bot
 */
export async function deleteIntegrationRow(db: Database, workspaceId: string, id: string): Promise<boolean> {
  return (await db('integrations').where({ workspace_id: workspaceId, id }).delete()) === 1
}

/** The version of an integration that reads the requests to the address of all its installations. */
export type GlobalIntegration = Pick<IntegrationRow, 'id' | 'workspace_id' | 'name' | 'definition'>

/**
 * Finds the integration of a name whose script reads the requests to the address of all installations: the newest version
 * that has one. Of several workspaces with an integration of this name, the address belongs to the one that was first.
 */
export async function findGlobalIntegration(db: Database, name: string): Promise<GlobalIntegration | undefined> {
  const [row] = await query<GlobalIntegration>(
    db,
    `select id, workspace_id, name, definition from integrations
     where name = :name and url is null
       and workspace_id = (select workspace_id from integrations where name = :name order by created_at, id limit 1)
       and coalesce(definition #>> '{identifier,extractScript}', '') <> ''
     order by created_at desc, id desc limit 1`,
    { name },
  )
  return row
}

/** The webhook id of the installation with an identifier; undefined when there is none, or it is disabled. */
export async function findIdentified(
  db: Database,
  { workspace_id: workspaceId, name }: GlobalIntegration,
  identifier: string,
): Promise<string | undefined> {
  const [row] = await query<{ webhook_id: string }>(
    db,
    `select webhook_id from installations
     where integration_workspace_id = :workspaceId and integration = :name and identifier = :identifier and enabled`,
    { workspaceId, name, identifier },
  )
  return row?.webhook_id
}
