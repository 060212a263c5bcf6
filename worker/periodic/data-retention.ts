import type { Context } from '#shared/context.ts'
import type { Retention } from '#shared/models/retention.ts'
import {
  deleteOfConversation,
  deleteOldEvents,
  deleteOldEventsWithoutConversation,
  deleteOldMessages,
  deleteOldUsers,
  deleteOldWorkflowsWithoutConversation,
  findOverConversations,
  nextRetainingBot,
  type RetentionScope,
  type RetentionStep,
  type RowPosition,
} from '#shared/store/data-retention.ts'
import type { Database } from '#shared/store/database.ts'
import type { Pass } from './pass.ts'

/** The passes over messages, conversations, events and users, by the retention of each bot. */

type Look = (transaction: Database, scope: RetentionScope) => Promise<RetentionStep>

/** @param rows upper bound of the rows that a pass looks at, and of those that it deletes */
export function dataRetentionPasses({ config }: Context, rows: number): Record<string, Pass> {
  const { data } = config.retention
  const over = (field: keyof Retention, look: Look) => passOverBots(field, data[field], rows, look)
  return {
    messages: over('messageDays', deleteOldMessages),
    'events of conversations': over('messageDays', deleteOldEvents),
    conversations: over('conversationDays', deleteConversations),
    'events without a conversation': over('eventDays', deleteOldEventsWithoutConversation),
    'workflows without a conversation': over('eventDays', deleteOldWorkflowsWithoutConversation),
    users: over('userDays', deleteOldUsers),
  }
}

/** The last bot that was looked at and, unless all its rows have been, the last row. */
interface Cursor {
  botId: string
  after?: RowPosition | undefined
}

function passOverBots(field: keyof Retention, days: number, rows: number, look: Look): Pass {
  let cursor: Cursor = { botId: '' }
  return async (transaction, count) => {
    let limit = rows
    while (limit > 0) {
      const from = { botId: cursor.botId, isIncluded: cursor.after !== undefined }
      const bot = await nextRetainingBot(transaction, field, days, from)
      if (!bot) {
        cursor = { botId: '' }
        return false
      }
      const after = bot.id === cursor.botId ? cursor.after : undefined
      const { deleted, looked, last } = await look(transaction, { botId: bot.id, days: bot.days, after, limit })
      for (const [kind, number] of Object.entries(deleted)) count(kind, number)
      cursor = { botId: bot.id, after: last }
      // A bot without old rows takes a statement too.
      limit -= Math.max(looked, Math.ceil(rows / 100))
    }
    return true
  }
}

/** The statements of a conversation take as long as those that delete so many rows. */
const rowsOfConversation = 10

async function deleteConversations(transaction: Database, scope: RetentionScope): Promise<RetentionStep> {
  const found = await findOverConversations(transaction, scope)
  const deleted: Record<string, number> = {}
  let left = scope.limit
  for (const id of found.ids) {
    for (let isGone = false; !isGone;) {
      // The next pass continues here.
      if (left <= 0) return { deleted, looked: scope.limit, last: scope.after ?? { time: '-infinity', id: '' } }
      const step = await deleteOfConversation(transaction, { ...scope, limit: left }, id)
      if (!step) break
      isGone = step.isGone
      for (const [kind, number] of Object.entries(step.erased)) {
        deleted[kind] = (deleted[kind] ?? 0) + number
        left -= number
      }
      if (isGone) left -= rowsOfConversation
    }
  }
  return { ...found, deleted }
}
