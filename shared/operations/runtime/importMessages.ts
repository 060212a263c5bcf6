import { closedObject } from '../../schema.ts'
import type { BotContext } from '../../rpc/caller.ts'
import { assertReadable, findAuthor, noSuchConversation, toStoredContent } from '../../messaging/create-message.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { once } from '../../rpc/journal.ts'
import { runtimeMessage, toRuntimeMessage, type RuntimeMessage } from '../../models/message.ts'
import { discriminateByTags, toMatch, toStoredTags } from '../../models/tags.ts'
import { operation } from '../../rpc/operation.ts'
import type { Database } from '../../store/database.ts'
import { findOrCreate } from '../../store/find-or-create.ts'
import { findScopedConversation } from '../../store/runtime-conversations.ts'
import { findMatchingMessage, insertImportedMessage } from '../../store/runtime-messages.ts'
import { messageInput } from './createMessage.ts'

interface Imported {
  conversationId: string
  userId: string
  type: string
  payload: Record<string, unknown>
  tags?: Record<string, string>
  createdAt: string
  discriminateByTags?: string[]
}

const { origin: _, ...imported } = messageInput

export const importMessages = operation({
  name: 'importMessages',
  description: 'Stores past messages of another system. The bot gets no events, and listeners get no entries.',
  method: 'POST',
  path: '/v1/chat/messages/import-messages',
  access: 'bot',
  errors: ['ReferenceNotFound'],
  input: closedObject({
    messages: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['conversationId', 'userId', 'type', 'payload', 'createdAt'],
        properties: { ...imported, createdAt: { type: 'string', format: 'date-time' }, discriminateByTags },
      },
    },
  }),
  output: closedObject({ messages: { type: 'array', items: runtimeMessage } }),

  async handle(context, input) {
    const { messages, failed } = await once(context, input, async (db) => {
      const imported: (RuntimeMessage | undefined)[] = []
      const failed: { index: number; message: string }[] = []
      for (const { index, given } of inOneOrder(input.messages)) {
        try {
          imported[index] = await importMessage({ ...context, db }, db, given)
        } catch (error) {
          // Other errors come from the database and have aborted the transaction.
          if (!(error instanceof ApiError)) throw error
          failed.push({ index, message: error.message })
        }
      }
      failed.sort((one, other) => one.index - other.index)
      return { messages: imported.filter((message) => message !== undefined), failed }
    })
    if (failed.length === 0) return { messages }
    throw new ApiError(
      'InvalidPayload',
      `${failed.length} of ${input.messages.length} messages could not be imported: ${failed[0]!.message}`,
      { metadata: { resolvedMessages: messages, failedMessages: failed } },
    )
  },
})

/** One order for all imports: transactions that create the same messages in different orders would deadlock. */
function inOneOrder(messages: Imported[]): { index: number; given: Imported }[] {
  const sortKey = ({ conversationId, tags = {} }: Imported) =>
    JSON.stringify([
      conversationId,
      ...Object.keys(tags)
        .toSorted()
        .map((name) => [name, tags[name]]),
    ])
  return messages
    .map((given, index) => ({ index, given, sortKey: sortKey(given) }))
    .toSorted((one, other) => (one.sortKey < other.sortKey ? -1 : Number(one.sortKey > other.sortKey)))
}

async function importMessage(context: BotContext, db: Database, given: Imported): Promise<RuntimeMessage> {
  const { caller } = context
  const { conversationId, type, tags = {} } = given
  const createdAt = new Date(given.createdAt)
  if (createdAt > new Date()) {
    throw new ApiError(
      'InvalidPayload',
      `createdAt is in the future: ${given.createdAt}. Only past messages can be imported`,
    )
  }
  if (!(await findScopedConversation(db, caller, conversationId))) throw noSuchConversation(conversationId)
  const userId = await findAuthor(context, given.userId)
  const content = toStoredContent(given.payload)
  await assertReadable(context, conversationId, { type, payload: content.payload })
  const create = async (on: Database) => {
    const row = await insertImportedMessage(on, caller, {
      id: newId('msg'),
      botId: caller.botId,
      conversationId,
      userId,
      type,
      ...content,
      tags: toStoredTags(caller, tags),
      direction: userId === caller.botId ? 'outgoing' : 'incoming',
      createdAt,
    })
    if (!row) throw noSuchConversation(conversationId)
    return row
  }
  const match = toMatch(caller, tags, given.discriminateByTags)
  if (!match) return toRuntimeMessage(await create(db), caller)
  const where = { botId: caller.botId, conversationId }
  const { row } = await findOrCreate(db, ['message', conversationId, match.present], {
    find: (on) => findMatchingMessage(on, where, match),
    create,
  })
  return toRuntimeMessage(row, caller)
}
