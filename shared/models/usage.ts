import { closedObject } from '../schema.ts'

/** Kinds of usage that bots have; that of a workspace is the sum of its bots'. */
export const botUsageTypes = [
  'invocation_calls',
  'storage_count',
  'table_row_count',
  'indexed_file_count',
  'knowledgebase_vector_storage',
] as const
export type BotUsageType = (typeof botUsageTypes)[number]

/** Kinds of usage that only a workspace has. */
const workspaceUsageTypes = ['bot_count', 'workspace_member_count', 'integrations_owned_count'] as const

export type UsageType = BotUsageType | (typeof workspaceUsageTypes)[number]

export function isBotUsage(type: UsageType): type is BotUsageType {
  return (botUsageTypes as readonly string[]).includes(type)
}

export const usageType = {
  enum: [...botUsageTypes, ...workspaceUsageTypes],
  description:
    '`invocation_calls`: events of the month; `storage_count`: bytes of files; `knowledgebase_vector_storage`: bytes of the ' +
    'texts of indexed files; the others are numbers of rows.',
} as const

export const usagePeriod = {
  type: 'string',
  pattern: '^\\d{4}-(0[1-9]|1[0-2])',
  description:
    'The month in UTC, as a time in it or as `2026-11`. Default: the present one, and the only one but for calls.',
} as const

/** The value of a quota where there is none: the largest integer that JSON clients hold exactly. */
export const noQuota = Number.MAX_SAFE_INTEGER

export const usage = closedObject({
  id: { type: 'string', description: 'The workspace or the bot.' },
  type: usageType,
  period: { type: 'string', format: 'date-time', description: 'The start of the month, in UTC.' },
  value: { type: 'number' },
  quota: {
    type: 'number',
    description: `The limit of a bot that the operator sets; ${noQuota} where there is none, as for all workspaces.`,
  },
})

/** A month in UTC: its first moment, and that of the next one. */
export interface Month {
  from: Date
  until: Date
}

/** @param back months before that of the time */
export function monthOf(time: Date, back = 0): Month {
  const [year, month] = [time.getUTCFullYear(), time.getUTCMonth() - back]
  return { from: new Date(Date.UTC(year, month)), until: new Date(Date.UTC(year, month + 1)) }
}
