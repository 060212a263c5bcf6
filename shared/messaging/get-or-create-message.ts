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
import type { MessageRow } from '../models/tables.ts'

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
  const create = (on: Database) => createMessage({ ...context, db: on }, given, dueAt)
  const match = toMatch(caller, tags, discriminateByTags)
  const isFuture = dueAt && ({ isFuture: true } as const)
  if (!match) return { row: await create(db), created: true, ...isFuture }
  const change = { tags: toChange(caller, tags), content: payload && toStoredContent(payload) }
  const where = { botId: caller.botId, conversationId }
  const found = await findOrCreate(db, ['message', conversationId, match.present], {
    find: (on) => (dueAt ? findSentOrScheduled(on, where, match) : findSent(on, where, match)),
    create,
  })
  if (found.created) return { ...found, ...isFuture }
  const updated = await updateMessage({ ...context, db }, found.row, change)
  // A scheduled message was sent or cancelled meanwhile.
  return updated ?? getOrCreateMessage(context, db, input)
}

/** Stores a new message, now or until its time. */
async function createMessage(
  context: BotContext,
  { payload, ...given }: Omit<GetOrCreateMessageInput, 'schedule'>,
  dueAt: Date | undefined,
): Promise<MessageRow> {
  if (!payload) throw new ApiError('InvalidPayload', 'No message has these tags: send a payload to create one')
  const ready = await prepareMessage(context, { ...given, payload })
  if (dueAt) return storeUntilDue(context.db, ready, dueAt)
  const row = await admitMessage(context, ready)
  if (!row) throw noSuchConversation(given.conversationId)
  return row
}

/** A message that exists; with the id of its event, one that is scheduled. */
interface FoundMessage {
  row: MessageRow
  eventId?: string
}

type Find = (...search: Parameters<typeof findMatchingMessage>) => Promise<FoundMessage | undefined>

const findSent: Find = async (...search) => {
  const row = await findMatchingMessage(...search)
  return row && { row }
}

/** In this order, a message that becomes due meanwhile is found as one or the other. */
const findSentOrScheduled: Find = async (...search) => {
  const event = await findScheduledMessage(...search)
  if (!event) return findSent(...search)
  return { row: toFutureMessage(event.payload as unknown as ReadyMessage, event.available_at), eventId: event.id }
}

/**
 * Gives a message the tags, and the content if there is one.
 *
 * @returns undefined when the message was scheduled, and was sent or cancelled meanwhile
 */
async function updateMessage(
  context: BotContext,
  { row, eventId }: FoundMessage,
  { tags, content }: { tags: ReturnType<typeof toChange>; content: ReturnType<typeof toStoredContent> | undefined },
): Promise<GotMessage | undefined> {
  const { db, caller } = context
  const isUnchanged = isSettled(row.tags, tags) && (!content || hasContent(row, content))
  if (content && !isUnchanged) {
    await assertReadable(context, row.conversation_id, { type: row.type, payload: content.payload })
  }
  if (eventId !== undefined) {
    const updated = { ...row, ...content, tags: changeTags(row.tags, tags) }
    const isScheduled = isUnchanged || (await updateScheduledMessage(db, eventId, updated))
    return isScheduled ? { row: updated, created: false, isFuture: true } : undefined
  }
  const changed = isUnchanged
    ? undefined
    : await updateRuntimeMessage(db, { botId: caller.botId, id: row.id }, { tags, content })
  return { row: changed ?? row, created: false }
}

/** Whether a message already has this content. */
function hasContent(row: MessageRow, { payload, metadata }: ReturnType<typeof toStoredContent>): boolean {
  return isDeepStrictEqual([row.payload, row.metadata ?? undefined], [payload, metadata])
}
