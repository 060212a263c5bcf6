import { isDeepStrictEqual } from 'node:util'
import type { BotContext } from '../rpc/caller.ts'
import {
  admitMessage,
  assertReadable,
  noSuchConversation,
  prepareMessage,
  toStoredContent,
  type MessageInput,
  type ReadyMessage,
} from './create-message.ts'
import { ApiError } from '../errors.ts'
import { storeUntilDue, toFutureMessage } from './schedule-message.ts'
import { scheduledTime } from './schedule.ts'
import { changeTags, isSettled, toChange, toMatch } from '../models/tags.ts'
import type { Database } from '../store/database.ts'
import { findOrCreate } from '../store/find-or-create.ts'
import { findScopedConversation } from '../store/runtime-conversations.ts'
import { findMatchingMessage, updateRuntimeMessage } from '../store/runtime-messages.ts'
import { findScheduledMessage, updateScheduledMessage } from '../store/scheduled-events.ts'
import type { EventRow, MessageRow } from '../models/tables.ts'

export type GetOrCreateMessageInput = Omit<MessageInput, 'payload'> & {
  /** Required only when the message does not exist. */
  payload?: Record<string, unknown>
  discriminateByTags?: string[]
  /** The time of a new message. */
  schedule?: Parameters<typeof scheduledTime>[0]
}

/** A message, found or created. */
export interface GotMessage {
  row: MessageRow
  created: boolean
  /** It is stored at a later time. */
  isFuture?: true
}

/**
 * Finds a conversation's message by its tags and updates it with the other fields; stores a new one when there is none, or
 * schedules it. With a schedule, a message that is scheduled already is found too, and keeps its time.
 * The caller announces a created message (`announceMessage`), unless it is a future one.
 *
 * @throws ApiError `ReferenceNotFound` when the caller has no such conversation or author, `InvalidPayload` when
 *   neither the payload nor the message exists, or when the schedule is invalid
 */
export async function getOrCreateMessage(
  context: BotContext,
  db: Database,
  input: GetOrCreateMessageInput,
): Promise<GotMessage> {
  const { caller } = context
  const { schedule, ...given } = input
  const { conversationId, discriminateByTags, tags = {}, payload } = given
  const dueAt = schedule && scheduledTime(schedule, context.dependencies.database.now())
  if (!(await findScopedConversation(db, caller, conversationId))) throw noSuchConversation(conversationId)
  const create = async (on: Database) => {
    const ready = await prepareNew({ ...context, db: on }, given)
    if (dueAt) return storeUntilDue(on, ready, dueAt)
    const row = await admitMessage({ ...context, db: on }, ready)
    if (!row) throw noSuchConversation(conversationId)
    return row
  }
  const match = toMatch(caller, tags, discriminateByTags)
  const isFuture = dueAt && ({ isFuture: true } as const)
  if (!match) return { row: await create(db), created: true, ...isFuture }
  const where = { botId: caller.botId, conversationId }
  const change = toChange(caller, tags)
  const content = payload && toStoredContent(payload)
  let scheduled: EventRow | undefined
  const found = await findOrCreate(db, ['message', conversationId, match.present], {
    async find(on) {
      // In this order, a message that becomes due meanwhile is found as one or the other.
      scheduled = dueAt && (await findScheduledMessage(on, where, match))
      if (!scheduled) return findMatchingMessage(on, where, match)
      return toFutureMessage(scheduled.payload as unknown as ReadyMessage, scheduled.available_at)
    },
    create,
  })
  if (found.created) return { ...found, ...isFuture }
  const { row } = found
  const isUnchanged = isSettled(row.tags, change) && (!content || hasContent(row, content))
  if (content && !isUnchanged) {
    await assertReadable({ ...context, db }, conversationId, { type: row.type, payload: content.payload })
  }
  if (scheduled) {
    const updated = { ...row, ...content, tags: changeTags(row.tags, change) }
    const isScheduled = isUnchanged || (await updateScheduledMessage(db, scheduled.id, updated))
    if (isScheduled) return { row: updated, created: false, isFuture: true }
    // It was sent or cancelled meanwhile.
    return getOrCreateMessage(context, db, input)
  }
  if (isUnchanged) return found
  const changed = await updateRuntimeMessage(db, { botId: caller.botId, id: row.id }, { tags: change, content })
  return { row: changed ?? row, created: false }
}

/** Whether a message already has this content. */
function hasContent(row: MessageRow, { payload, metadata }: ReturnType<typeof toStoredContent>): boolean {
  return isDeepStrictEqual([row.payload, row.metadata ?? undefined], [payload, metadata])
}

function prepareNew(context: BotContext, { payload, ...given }: GetOrCreateMessageInput) {
  if (payload) return prepareMessage(context, { ...given, payload })
  throw new ApiError('InvalidPayload', 'No message has these tags: send a payload to create one')
}
