import type { Context } from '#shared/context.ts'
import { newId } from '#shared/ids.ts'
import { includesRole } from '#shared/models/member.ts'
import type { Role } from '#shared/models/tables.ts'
import { beginRecord, endRecord } from '#shared/store/audit.ts'
import { releaseHandovers } from '#shared/store/handovers.ts'
import { listMemberships, setRoleOfClaims, type Membership } from '#shared/store/identities.ts'
import { deleteMember, hasOtherOwner } from '#shared/store/members.ts'
import { lockWorkspace } from '#shared/store/workspaces.ts'

/**
 * Gives an account the roles of its claims, and takes away those that former claims have given. Roles that members gave
 * stay. An only owner stays one, and the log says so.
 *
 * @param context with the database of a transaction
 */
export async function applyClaims(
  context: Context,
  { accountId, roles }: { accountId: string; roles: Map<string, Role> },
): Promise<void> {
  const memberships = new Map((await listMemberships(context.db, accountId)).map((each) => [each.workspaceId, each]))
  const former = [...memberships.values()].filter(({ isFromClaims }) => isFromClaims)
  // In the order of ids, so that sign-ins that lock several workspaces do not wait for each other in a circle.
  const workspaceIds = new Set([...roles.keys(), ...former.map(({ workspaceId }) => workspaceId)])
  for (const workspaceId of [...workspaceIds].toSorted()) {
    if (!(await lockWorkspace(context.db, workspaceId))) {
      context.log.warn({ workspaceId }, 'OIDC_ROLES names a workspace that does not exist')
      continue
    }
    await apply(context, {
      accountId,
      workspaceId,
      present: memberships.get(workspaceId),
      role: roles.get(workspaceId),
    })
  }
}

interface Change {
  accountId: string
  workspaceId: string
  present: Membership | undefined
  /** Absent: the claims give none. */
  role: Role | undefined
}

async function apply(context: Context, { accountId, workspaceId, present, role }: Change): Promise<void> {
  const { db, log } = context
  if ((present && !present.isFromClaims) || present?.role === role) return
  if (present?.role === 'owner' && !(await hasOtherOwner(db, workspaceId, accountId))) {
    log.warn({ workspaceId, accountId }, 'The claims take the role of the only owner of a workspace: it stays')
    return
  }
  const operation = present ? (role ? 'updateWorkspaceMember' : 'deleteWorkspaceMember') : 'createWorkspaceMember'
  const id = newId('audit')
  const fields = JSON.stringify(role === undefined ? {} : { role })
  await beginRecord(db, { id, workspaceId, accountId, email: null, operation, fields, resourceId: accountId })
  await endRecord(db, id, { id: accountId })
  if (role === undefined) return deleteMember(db, workspaceId, accountId)
  await setRoleOfClaims(db, { accountId, workspaceId, role })
  if (!includesRole(role, 'agent')) await releaseHandovers(db, accountId, workspaceId)
}
