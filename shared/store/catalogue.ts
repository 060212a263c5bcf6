import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { query, type Database } from './database.ts'
import type { PluginListing } from '../models/plugin.ts'
import type { InterfaceRow, PluginRow } from '../models/tables.ts'

/** The tables of the catalogue whose rows have a name, a version and a visibility. */
export type CatalogueTable = 'interfaces' | 'plugins'

/** The workspace whose rows are looked up; `public`: those that other workspaces see too. */
export type Owner = { workspaceId: string } | 'public'

/** The columns of both tables; a plugin's code is not read. */
const shown = [
  'id',
  'workspace_id',
  'name',
  'version',
  'visibility',
  'definition',
  'created_at',
  'updated_at',
] as const satisfies (keyof PluginListing)[]

/** Definitions may be long: of those in lists only the titles and descriptions are read. */
const listed = shown.filter((column) => column !== 'definition')
const listedDefinition = `jsonb_strip_nulls(jsonb_build_object(
  'title', definition -> 'title', 'description', definition -> 'description')) as definition`

type NewEntry<Row> = Omit<Row, 'created_at' | 'updated_at'>

/** @throws a unique violation when the workspace has this version of this name already */
export async function insertInterface(db: Database, row: NewEntry<InterfaceRow>): Promise<void> {
  await db('interfaces').insert(row)
}

/** @throws a unique violation when the workspace has this version of this name already */
export async function insertPlugin(db: Database, row: NewEntry<PluginRow>): Promise<void> {
  await db('plugins').insert(row)
}

export async function findEntry(
  db: Database,
  table: CatalogueTable,
  owner: Owner,
  id: string,
): Promise<InterfaceRow | undefined> {
  return db<InterfaceRow>(table)
    .where({ id })
    .modify((rows) => restrict(rows, owner))
    .first(...shown)
}

/** Conditions of the partial indexes: not bindings, because plans are made for no values. */
const [isPublished, isListed] = [`visibility <> 'private'`, `visibility = 'public'`]

function restrict(rows: { where(fields: object): unknown; whereRaw(sql: string): unknown }, owner: Owner): void {
  if (owner === 'public') rows.whereRaw(isPublished)
  else rows.where({ workspace_id: owner.workspaceId })
}

/** As `findEntry` for the workspace's own, with a lock that prevents other changes until the transaction ends. */
export async function lockEntry(
  transaction: Database,
  table: CatalogueTable,
  workspaceId: string,
  id: string,
): Promise<InterfaceRow | undefined> {
  return transaction<InterfaceRow>(table)
    .where({ id, workspace_id: workspaceId })
    .forUpdate()
    .first(...shown)
}

/** The code of a plugin for one kind of machine. */
export async function findPluginCode(
  db: Database,
  owner: Owner,
  id: string,
  platform: 'node' | 'browser',
): Promise<string | undefined> {
  const row = await db('plugins')
    .where({ id })
    .modify((rows) => restrict(rows, owner))
    .first(`${platform}_code as code`)
  return (row as { code: string } | undefined)?.code
}

/**
 * All versions of a name. A public name belongs to the workspace that published it first: those of others, which were
 * published at the same time, are not found.
 */
export async function listEntryVersions(
  db: Database,
  table: CatalogueTable,
  owner: Owner,
  name: string,
): Promise<Pick<InterfaceRow, 'id' | 'version'>[]> {
  if (owner !== 'public') return db(table).where({ workspace_id: owner.workspaceId, name }).select('id', 'version')
  return query(
    db,
    `select id, version from ${table}
     where name = :name and visibility <> 'private' and workspace_id = (
       select workspace_id from ${table} where name = :name and visibility <> 'private' order by created_at, id limit 1)`,
    { name },
  )
}

/** Whether another workspace has published the name first; one that has published it at the same time does not count. */
export async function isNameOfAnother(
  db: Database,
  table: CatalogueTable,
  workspaceId: string,
  name: string,
): Promise<boolean> {
  const owner = await db(table)
    .where({ name })
    .whereRaw(isPublished)
    .orderBy(['created_at', 'id'])
    .first('workspace_id')
  return owner !== undefined && owner.workspace_id !== workspaceId
}

/** One page of a workspace's rows, or of those that are public and listed, newest first. Definitions have what lists show. */
export async function pageOfEntries(
  db: Database,
  table: CatalogueTable,
  owner: Owner,
  { name, version }: { name?: string; version?: string },
  request: PageRequest,
): Promise<Page<InterfaceRow>> {
  const rows: InterfaceRow[] = await db<InterfaceRow>(table)
    .where({ ...(name !== undefined && { name }), ...(version !== undefined && { version }) })
    .modify((rows) => {
      if (owner === 'public') rows.whereRaw(isListed)
      else rows.where({ workspace_id: owner.workspaceId })
      page(rows, request)
    })
    .select(...listed, db.raw(listedDefinition))
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

/** Sets the given fields and leaves the others unchanged. */
export async function updateEntry(
  db: Database,
  table: CatalogueTable,
  id: string,
  fields: Partial<Pick<PluginRow, 'definition' | 'visibility' | 'node_code' | 'browser_code'>>,
): Promise<void> {
  await db(table)
    .where({ id })
    .update({ ...fields, updated_at: db.fn.now(3) })
}

/** False when the workspace has no such row. */
export async function deleteEntry(
  db: Database,
  table: CatalogueTable,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  return (await db(table).where({ id, workspace_id: workspaceId }).delete()) === 1
}
