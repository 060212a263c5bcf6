import { nudgeListeners, tellListeners } from '../../after-commit.ts'
import type { BotCaller } from '../../caller.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { onceStored } from '../../journal.ts'
import { runtimeMessage, toMessage, toRuntimeMessage } from '../../models/message.ts'
import { chatPayload, isRecord, toChatPayload, type MessageContent } from '../../models/payload.ts'
import { operation } from '../../operation.ts'
import { compile, describeErrors } from '../../schema.ts'
import { completeStream } from '../../message-streams.ts'
import { toLogEntry } from '../../store/conversation-log.ts'
import { findMessage, insertOutgoingMessage, type StoredMessage } from '../../store/messages.ts'
import type { MessageRow } from '../../store/tables.ts'
import { findUser, knownUserIds } from '../../store/users.ts'

const isChatPayload = compile(chatPayload, 'body')

export const createMessage = operation({
  name: 'createMessage',
  description: 'Says something in a conversation, as the bot.',
  method: 'POST',
  path: '/v1/chat/messages',
  access: 'bot',
  status: 201,
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['conversationId', 'type', 'payload'],
    properties: {
      conversationId: { type: 'string' },
      type: { type: 'string', minLength: 1, maxLength: 200 },
      payload: { type: 'object' },
      userId: { type: 'string', description: 'Who says it: the bot itself unless given.' },
      tags: { type: 'object', additionalProperties: { type: 'string', maxLength: 500 } },
    },
  },
  output: {
    type: 'object',
    additionalProperties: false,
    required: ['message'],
    properties: { message: runtimeMessage },
  },

  async handle(context, input) {
    const { botId } = context.caller
    const { metadata, ...payload } = input.payload
    const content = { type: input.type, payload }
    assertReadable(content)
    const userId = await author(context, input.userId)
    const message = {
      id: newId('msg'),
      botId,
      conversationId: input.conversationId,
      userId,
      ...content,
      ...(isRecord(metadata) && { metadata }),
      ...(input.tags && { tags: input.tags }),
    }
    const row: MessageRow | StoredMessage | undefined = await onceStored<MessageRow>(context, input, {
      id: message.id,
      insert: (effect) => insertOutgoingMessage(context.db, message, effect),
      find: (id) => findMessage(context.db, botId, id),
    })
    if (!row) throw new ApiError('ReferenceNotFound', `The bot has no conversation '${input.conversationId}'`)
    await tell(context, row)
    return { message: toRuntimeMessage(row) }
  },
})

async function tell(context: Context & { caller: BotCaller }, row: MessageRow | StoredMessage): Promise<void> {
  const conversationId = row.conversation_id
  const known = row.user_id === context.caller.botId ? undefined : await knownUserIds(context.db, [row.user_id])
  const message = toMessage(row, { conversationId, userId: known?.get(row.user_id) ?? row.user_id })
  const streamId = row.metadata?.['streamId']
  if (typeof streamId === 'string') await completeStream(context, streamId, message)
  // A run that is repeated finds its message stored: whether it was announced is not known.
  if (!('sequence' in row)) return nudgeListeners(context, conversationId)
  await tellListeners(context, toLogEntry(row), { type: 'message_created', data: { ...message, isBot: true } })
}

/** A message that chat clients could not show would be lost to the user without a word, so it is refused here. */
function assertReadable(content: MessageContent): void {
  const payload: unknown = toChatPayload(content)
  if (!isChatPayload(payload)) {
    throw new ApiError(
      'InvalidPayload',
      `This is no message that chat clients can show: ${describeErrors(isChatPayload)}`,
    )
  }
}

async function author({ db, caller }: Context & { caller: BotCaller }, userId = caller.botId): Promise<string> {
  if (userId === caller.botId || (await findUser(db, caller.botId, userId))) return userId
  throw new ApiError('ReferenceNotFound', `The bot has no user '${userId}'`)
}
