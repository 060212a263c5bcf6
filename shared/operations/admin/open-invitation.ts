import { ApiError, notFound } from '../../errors.ts'
import type { Database } from '../../store/database.ts'
import { findInvitation } from '../../store/invitations.ts'
import type { Invitation } from '../../models/invitation.ts'

/**
 * Finds the caller's invitation, if it can still be accepted.
 * @throws ApiError `ResourceGone` when it was accepted or has expired, `ResourceNotFound` when it was withdrawn
 */
export async function findOpenInvitation(db: Database, hash: Buffer): Promise<Invitation> {
  const invitation = await findInvitation(db, hash)
  if (!invitation) throw notFound('Invitation', 'it has been withdrawn')
  const { accepted_at: acceptedAt, workspace_name: workspace } = invitation
  if (acceptedAt) {
    throw new ApiError(
      'ResourceGone',
      `The invitation was accepted at ${acceptedAt.toISOString()}. If you did not accept it, ask an administrator of the ` +
        `workspace '${workspace}' to remove this member and to invite you anew`,
    )
  }
  if (!invitation.is_expired) return invitation
  const expiredAt = invitation.invitation_expires_at.toISOString()
  throw new ApiError(
    'ResourceGone',
    `The invitation expired at ${expiredAt}: ask an administrator of the workspace '${workspace}' for another`,
  )
}
