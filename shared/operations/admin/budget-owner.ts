import type { Context } from '../../context.ts'
import type { Administrator } from '../../rpc/caller.ts'
import { findBot } from '../../store/bots.ts'
import type { BudgetOwner } from '../../store/model-budgets.ts'
import { noSuchBot } from './describe-bot.ts'

/**
 * The bot of the caller's workspace, or the workspace itself.
 * @throws ApiError `ResourceNotFound`
 */
export async function budgetOwner(
  { db, caller: { workspaceId } }: Context & { caller: Administrator },
  botId: string | undefined,
): Promise<BudgetOwner> {
  if (botId === undefined) return { workspaceId }
  if (!(await findBot(db, workspaceId, botId))) throw noSuchBot(botId)
  return { botId }
}
