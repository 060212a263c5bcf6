import { newestFitting } from './newest-fitting.ts'
import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import {
  describeBuiltIn,
  listBuiltInVersions,
  publicIntegration,
  publicIntegrationSummary,
} from '../models/chat-integration.ts'
import { toIntegration, toIntegrationSummary } from '../models/integration.ts'
import type { Infer } from '../schema.ts'
import type { Database } from '../store/database.ts'
import { findIntegration, type ShownIntegration } from '../store/integrations.ts'
import { readSecrets } from '../store/named-secrets.ts'
import {
  findPublicIntegration,
  isInstalledElsewhere,
  isNameOfAnother,
  listPublicVersions,
  type PublicIntegrationListing,
} from '../store/public-integrations.ts'

type PublicIntegration = Infer<typeof publicIntegration>
type PublicSummary = Infer<typeof publicIntegrationSummary>

/** A built-in or public integration; undefined when there is none with the id. */
export async function describePublic(
  { db, config }: Pick<Context, 'db' | 'config'>,
  id: string,
): Promise<PublicIntegration | undefined> {
  const builtIn = describeBuiltIn(id)
  if (builtIn) return builtIn
  const row = await findPublicIntegration(db, id)
  if (!row) return undefined
  const secretNames = Object.keys(await readSecrets(config.secret, row))
  return { ...toIntegration(row, secretNames), ...ownerOf(row) }
}

/**
 * The id of the newest public version that matches.
 *
 * @param version an exact one, a semantic range, or `latest`
 * @throws ApiError `ResourceNotFound`
 */
export async function requirePublicVersion(db: Database, name: string, version: string): Promise<string> {
  const builtIn = listBuiltInVersions().filter((one) => one.name === name)
  const versions = builtIn.length > 0 ? builtIn : await listPublicVersions(db, name)
  const fitting = newestFitting(
    versions.map(({ version }) => version),
    version,
  )
  const found = versions.find((one) => one.version === fitting)
  if (!found) throw notFound(`Version ${version} of integration ${name}`)
  return found.id
}

export function toPublicSummary(row: PublicIntegrationListing): PublicSummary {
  return { ...toIntegrationSummary(row), ...ownerOf(row) }
}

function ownerOf({
  workspace_id: id,
  workspace_handle: handle,
  workspace_name: name,
  installs,
}: PublicIntegrationListing) {
  return { ownerWorkspace: { id, handle, name }, meta: { installs, views: 0 } }
}

/** An integration that a bot of the workspace may have: its own, or a public one of another workspace. */
export async function findInstallable(
  db: Database,
  workspaceId: string,
  id: string,
): Promise<ShownIntegration | undefined> {
  const own = await findIntegration(db, workspaceId, id)
  if (own) return own
  const row = await findPublicIntegration(db, id)
  return row && findIntegration(db, row.workspace_id, id)
}

/**
 * Checks that a change of an integration's visibility is possible: a public name has one owner, and bots of other
 * workspaces keep what they have installed.
 *
 * @param id absent for a new integration
 * @throws ApiError `AlreadyExists`, `ReferenceConstraint`
 */
export async function assertVisibility(
  db: Database,
  workspaceId: string,
  { id, name, visibility }: { id?: string; name: string; visibility: 'public' | 'private' | 'unlisted' | undefined },
): Promise<void> {
  if (visibility === undefined) return
  if (visibility !== 'private') {
    if (!(await isNameOfAnother(db, workspaceId, name))) return
    throw new ApiError(
      'AlreadyExists',
      `Another workspace has published '${name}': choose another name, or keep it private`,
    )
  }
  if (id !== undefined && (await isInstalledElsewhere(db, workspaceId, id))) {
    throw new ApiError(
      'ReferenceConstraint',
      'Bots of other workspaces have this version installed: create a private version instead',
    )
  }
}
