import type { Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { ApiError, notFound } from '../../errors.ts'
import {
  isBotUsage,
  monthOf,
  noQuota,
  type Month,
  type BotUsageType,
  type UsageType,
  type usage,
} from '../../models/usage.ts'
import type { Infer } from '../../schema.ts'
import { findBot } from '../../store/bots.ts'
import { countOfBots, countOfWorkspace } from '../../store/usage.ts'

type Usage = Infer<typeof usage>
type AdminContext = Context & { caller: Administrator }

/**
 * Reads the month of a request.
 * @throws ApiError `InvalidQuery` for a past month of a count that is only known of the present
 */
export function monthFor(type: UsageType, period: string | undefined): Month {
  const present = monthOf(new Date())
  const month = period === undefined ? present : monthOf(new Date(`${period.slice(0, 7)}-01T00:00:00Z`))
  if (type === 'invocation_calls' || month.from.getTime() === present.from.getTime()) return month
  throw new ApiError('InvalidQuery', `${type} is counted at present only: omit period`)
}

/** Whether an id is that of the caller's workspace. @throws ApiError `ResourceNotFound` when it is that of no bot in it either */
export async function isOwnWorkspace({ db, caller }: AdminContext, id: string): Promise<boolean> {
  if (id === caller.workspaceId) return true
  if (await findBot(db, caller.workspaceId, id)) return false
  throw notFound(`'${id}'`, 'it is the id of neither the workspace nor one of its bots')
}

/**
 * Counts the usage of the caller's workspace, or of one of its bots.
 *
 * @param id of the workspace or of a bot in it
 * @returns undefined for a bot, when only workspaces have this kind of usage
 */
export async function countUsage(
  context: AdminContext,
  id: string,
  type: UsageType,
  month: Month,
): Promise<Usage | undefined> {
  const { db, caller } = context
  const { workspaceId } = caller
  const isWorkspace = await isOwnWorkspace(context, id)
  if (!isBotUsage(type)) {
    return isWorkspace ? toUsage(context, id, type, month, await countOfWorkspace(db, workspaceId, type)) : undefined
  }
  const counts = await countOfBots(db, { workspaceId, botId: isWorkspace ? undefined : id }, type, month)
  const sum = counts.reduce((total, { value }) => total + value, 0)
  return toUsage(context, id, type, month, sum)
}

/** A count of the workspace or of a bot, with the bot's limit. */
export function toUsage(
  { config, caller }: AdminContext,
  id: string,
  type: UsageType,
  { from }: Month,
  value: number,
): Usage {
  const limits: Partial<Record<BotUsageType, number>> = {
    storage_count: config.files.maxBytes,
    table_row_count: config.tables.rowsPerBot,
    indexed_file_count: config.files.maxFiles,
    knowledgebase_vector_storage: config.knowledge.maxTextBytes,
  }
  const limit = id !== caller.workspaceId && isBotUsage(type) ? limits[type] : undefined
  return { id, type, period: from.toISOString(), value, quota: limit ?? noQuota }
}

/** @throws ApiError `InvalidQuery` naming the kind of usage that a bot does not have */
export function notOfBots(type: UsageType): ApiError {
  return new ApiError('InvalidQuery', `${type} is counted for workspaces, not for bots: send the id of the workspace`)
}
