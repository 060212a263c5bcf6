import { newestFitting } from './newest-fitting.ts'
import { ApiError, notFound } from '../errors.ts'
import { builtInInterface } from '../models/inbox-definition.ts'
import type { InterfaceRow } from '../models/tables.ts'
import { findEntry, isNameOfAnother, listEntryVersions, type CatalogueTable, type Owner } from '../store/catalogue.ts'
import type { Database } from '../store/database.ts'

const nouns = { interfaces: 'Interface', plugins: 'Plugin' } as const

/** The interface of the platform's own, which look-ups of public interfaces find by its id or name. */
function findBuiltIn(
  table: CatalogueTable,
  owner: Owner,
  { id, name }: { id?: string; name?: string },
): InterfaceRow | undefined {
  if (table !== 'interfaces' || owner !== 'public') return undefined
  return id === builtInInterface.id || name === builtInInterface.name ? builtInInterface : undefined
}

export function noSuchEntry(table: CatalogueTable, id: string): ApiError {
  return notFound(`${nouns[table]} '${id}'`)
}

/** @throws ApiError `ResourceNotFound` */
export async function requireEntry(
  db: Database,
  table: CatalogueTable,
  owner: Owner,
  id: string,
): Promise<InterfaceRow> {
  const row = findBuiltIn(table, owner, { id }) ?? (await findEntry(db, table, owner, id))
  if (!row) throw noSuchEntry(table, id)
  return row
}

/**
 * The newest version of an interface or a plugin that matches.
 *
 * @param version an exact one, a semantic range, or `latest`
 * @throws ApiError `ResourceNotFound`
 */
export async function requireVersion(
  db: Database,
  table: CatalogueTable,
  owner: Owner,
  { name, version }: { name: string; version: string },
): Promise<InterfaceRow> {
  const builtIn = findBuiltIn(table, owner, { name })
  const versions = [...(builtIn ? [builtIn] : []), ...(await listEntryVersions(db, table, owner, name))]
  const fitting = newestFitting(
    versions.map(({ version }) => version),
    version,
  )
  const found = versions.find(({ version }) => version === fitting)
  const row = found === builtIn ? builtIn : found && (await findEntry(db, table, owner, found.id))
  if (!row) throw notFound(`Version ${version} of ${nouns[table].toLowerCase()} ${name}`)
  return row
}

/** An interface or a plugin that a workspace can use: its own, or a public one. */
export async function findUsable(
  db: Database,
  table: CatalogueTable,
  workspaceId: string,
  id: string,
): Promise<InterfaceRow | undefined> {
  const builtIn = findBuiltIn(table, 'public', { id })
  return builtIn ?? (await findEntry(db, table, { workspaceId }, id)) ?? findEntry(db, table, 'public', id)
}

/**
 * A name that one workspace has published is not published by another: look-ups by name would be ambiguous.
 *
 * @throws ApiError `AlreadyExists`
 */
export async function assertPublishable(
  db: Database,
  table: CatalogueTable,
  workspaceId: string,
  name: string,
): Promise<void> {
  if (!(await isNameOfAnother(db, table, workspaceId, name))) return
  throw new ApiError(
    'AlreadyExists',
    `Another workspace has published '${name}': choose another name, or keep it private`,
  )
}

export function versionExists(table: CatalogueTable, name: string, version: string): ApiError {
  const noun = nouns[table].toLowerCase()
  return new ApiError(
    'AlreadyExists',
    `The workspace already has ${noun} ${name} ${version}: update it, or choose a higher version`,
  )
}
