import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { query, type Database } from './database.ts'
import { implementing, listedDefinition } from './integrations.ts'
import type { IntegrationListing } from '../models/integration.ts'
import type { IntegrationRow } from '../models/tables.ts'

/** A public integration, with the workspace that published it. */
export type PublicIntegrationRow = PublicIntegrationListing & Pick<IntegrationRow, 'permissions' | 'secrets'>

/** As lists show it: its definition has what `toPresentation` reads. */
export type PublicIntegrationListing = IntegrationListing & {
  workspace_id: string
  workspace_handle: string | null
  workspace_name: string
  installs: number
}

/** A condition of SQL. Code under development runs on its developer's machine, and is found in its own workspace alone. */
export const isPublished = `integrations.url is null and coalesce(integrations.definition ->> 'visibility', 'private') <> 'private'`

function published(db: Database) {
  return db('integrations').join('workspaces', 'workspaces.id', 'integrations.workspace_id').whereRaw(isPublished)
}

const listedColumns = ['id', 'workspace_id', 'name', 'version', 'created_at', 'updated_at']
const columns = [...listedColumns, 'definition', 'permissions', 'secrets']

function shown(db: Database, columns: string[]) {
  return [
    ...columns.map((column) => `integrations.${column}`),
    'workspaces.handle as workspace_handle',
    'workspaces.name as workspace_name',
    db.raw('(select count(*)::int from installations where integration_id = integrations.id) as installs'),
  ]
}

/** A public or unlisted integration of any workspace. */
export async function findPublicIntegration(db: Database, id: string): Promise<PublicIntegrationRow | undefined> {
  return published(db)
    .where('integrations.id', id)
    .first(...shown(db, columns)) as Promise<PublicIntegrationRow | undefined>
}

/** The public versions of a name, of the workspace that published it first. */
export async function listPublicVersions(db: Database, name: string): Promise<{ id: string; version: string }[]> {
  return query(
    db,
    `select id, version from integrations
     where name = :name and ${isPublished} and workspace_id = (
       select workspace_id from integrations where name = :name and ${isPublished} order by created_at, id limit 1)`,
    { name },
  )
}

/**
 * Whether another workspace has published the name first. One that has published it at the same time is not found by the name,
 * and does not keep the first one from publishing further versions.
 */
export async function isNameOfAnother(db: Database, workspaceId: string, name: string): Promise<boolean> {
  const owner = await db('integrations')
    .where({ name })
    .whereRaw(isPublished)
    .orderBy(['created_at', 'id'])
    .first('workspace_id')
  return owner !== undefined && owner.workspace_id !== workspaceId
}

/** Whether bots of other workspaces have an integration of this workspace, or of one version of it. */
export async function isInstalledElsewhere(db: Database, workspaceId: string, id?: string): Promise<boolean> {
  const [row] = await query<{ found: boolean }>(
    db,
    `select exists (
       select from installations
         join integrations on integrations.id = installations.integration_id
         join bots on bots.id = installations.bot_id
        where integrations.workspace_id = :workspaceId and bots.workspace_id <> :workspaceId
          and (:id::text is null or integrations.id = :id)) as found`,
    { workspaceId, id: id ?? null },
  )
  return row?.found ?? false
}

export interface PublicFilter {
  ids?: string[] | undefined
  name?: string | undefined
  version?: string | undefined
  search?: string | undefined
  interfaceId?: string | undefined
  interfaceName?: string | undefined
}

/** One page of the listed public integrations, newest first. */
export async function pageOfPublicIntegrations(
  db: Database,
  { ids, name, version, search, interfaceId, interfaceName }: PublicFilter,
  request: PageRequest,
): Promise<Page<PublicIntegrationListing>> {
  const rows = (await db('integrations')
    .join('workspaces', 'workspaces.id', 'integrations.workspace_id')
    // Those that are listed have an index, so that the definitions of other rows are not read.
    .whereRaw(`integrations.url is null and integrations.definition ->> 'visibility' = 'public'`)
    .modify((rows) => {
      if (ids) rows.whereIn('integrations.id', ids)
      if (name !== undefined) rows.where('integrations.name', name)
      if (version !== undefined) rows.where('integrations.version', version)
      if (search) {
        const text = `concat_ws(E'\\n', integrations.name, definition ->> 'title', definition ->> 'description')`
        rows.whereRaw(`position(lower(?) in lower(${text})) > 0`, [search])
      }
      implementing(rows, { interfaceId, interfaceName })
      page(rows, request, 'integrations.created_at', 'integrations.id')
    })
    .select(...shown(db, listedColumns), db.raw(listedDefinition))) as PublicIntegrationListing[]
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}
