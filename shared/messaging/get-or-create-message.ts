import { isDeepStrictEqual } from 'node:util'
import type { BotContext } from '../rpc/caller.ts'
import {
  admitMessage,
  assertReadable,
  noSuchConversation,
  prepareMessage,
  toStoredContent,
  type MessageInput,
} from './create-message.ts'
import { ApiError } from '../errors.ts'
import { isSettled, toChange, toMatch } from '../models/tags.ts'
import type { Database } from '../store/database.ts'
import { findOrCreate } from '../store/find-or-create.ts'
import { findScopedConversation } from '../store/runtime-conversations.ts'
import { findMatchingMessage, updateRuntimeMessage } from '../store/runtime-messages.ts'
import type { MessageRow } from '../models/tables.ts'

export type GetOrCreateMessageInput = Omit<MessageInput, 'payload'> & {
  /** Required only when the message does not exist. */
  payload?: Record<string, unknown>
  discriminateByTags?: string[]
}

/**
 * Finds a conversation's message by its tags and updates it with the other fields; stores a new one when there is none.
 * The caller announces a created message (`announceMessage`).
 *
 * @throws ApiError `ReferenceNotFound` when the caller has no such conversation or author, `InvalidPayload` when
 *   neither the payload nor the message exists
 */
export async function getOrCreateMessage(
  context: BotContext,
  db: Database,
  given: GetOrCreateMessageInput,
): Promise<{ row: MessageRow; created: boolean }> {
  const { caller } = context
  const { conversationId, discriminateByTags, tags = {}, payload } = given
  if (!(await findScopedConversation(db, caller, conversationId))) throw noSuchConversation(conversationId)
  const create = async (on: Database) => {
    const ready = await prepareNew({ ...context, db: on }, given)
    const row = await admitMessage({ ...context, db: on }, ready)
    if (!row) throw noSuchConversation(conversationId)
    return row
  }
  const match = toMatch(caller, tags, discriminateByTags)
  if (!match) return { row: await create(db), created: true }
  const where = { botId: caller.botId, conversationId }
  const found = await findOrCreate(db, ['message', conversationId, match.present], {
    find: (on) => findMatchingMessage(on, where, match),
    create,
  })
  const { row } = found
  const change = toChange(caller, tags)
  const content = payload && toStoredContent(payload)
  if (found.created || (isSettled(row.tags, change) && (!content || hasContent(row, content)))) return found
  if (content) await assertReadable({ ...context, db }, conversationId, { type: row.type, payload: content.payload })
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
