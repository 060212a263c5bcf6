import { ApiError } from '../../errors.ts'
import { includesRole } from '../../models/member.ts'
import { lockRole } from '../../store/accounts.ts'
import { keepBot } from '../../store/bots.ts'
import type { Database } from '../../store/database.ts'
import { noSuchBot } from './describe-bot.ts'

/**
 * Keeps a member's role, and the bot in the workspace, until the transaction ends, so that a member who loses one of them
 * meanwhile also loses the handover.
 *
 * @throws ApiError `ReferenceNotFound` when the workspace has no such member, or the role does not include an agent's;
 *   `ResourceNotFound` when it has no such bot
 */
export async function lockAnswering(
  transaction: Database,
  { workspaceId, botId, accountId }: { workspaceId: string; botId: string; accountId: string },
): Promise<void> {
  const role = await lockRole(transaction, workspaceId, accountId)
  if (!role || !includesRole(role, 'agent')) {
    throw new ApiError('ReferenceNotFound', `Member '${accountId}' not found, or the member's role may not answer`)
  }
  if (!(await keepBot(transaction, workspaceId, botId))) throw noSuchBot(botId)
}
