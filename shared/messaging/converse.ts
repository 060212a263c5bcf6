import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import { allowedLimits } from '../config/limit-settings.ts'
import { newId } from '../ids.ts'
import { chatConfigurationOf } from '../models/chat-configuration.ts'
import { converseId } from '../models/converse.ts'
import type { ChatPayload } from '../models/payload.ts'
import type { EventRow, Installation } from '../models/tables.ts'
import { awaitOutcome } from '../signals/await-outcome.ts'
import { WaitingRequests } from '../signals/waiting-requests.ts'
import { findOwnLimits } from '../store/bots.ts'
import { findEvent } from '../store/events.ts'
import { repliesOf } from '../store/replies.ts'
import { findKeyHolder, insertUser } from '../store/users.ts'
import { toResponses } from './converse-payloads.ts'
import { insertChatConversation } from './insert-chat-conversation.ts'
import { receiveChatMessage } from './receive-chat-message.ts'

/** A message of a user of the Converse API. */
export interface Conversing {
  installation: Installation
  /** The user's id for the client. */
  userId: string
  payload: ChatPayload
  metadata?: Record<string, unknown> | undefined
}

/** The bot's handling of a message. */
export interface Conversed {
  event: EventRow
  responses: Record<string, unknown>[]
}

const graceMilliseconds = 5000

/** Upper bound of the messages of one bot that wait in one process: each holds a request for as long as the bot takes. */
const waiting = new WaitingRequests(100)

/**
 * Refuses a bot whose configuration does not open the Converse API.
 *
 * @throws ApiError `Forbidden`
 */
export function assertOpen(installation: Installation, entry: 'public' | 'secured'): void {
  const { converse } = chatConfigurationOf(installation)
  if (converse === 'public' || (converse === 'secured' && entry === 'secured')) return
  throw new ApiError(
    'Forbidden',
    converse === undefined
      ? 'The Converse API of this bot is disabled: set "converse" in the configuration of its chat to "secured" or "public"'
      : 'The Converse API of this bot takes requests with a token only: send them to …/secured',
  )
}

/**
 * Has the bot handle a message, and waits until it has. A user has one conversation. Both belong to the chat of the bot,
 * under ids that its clients cannot choose.
 *
 * @throws ApiError `OperationTimeout` when the bot does not end in time: it goes on, and its messages are stored;
 *   `RateLimited` when too many messages or events of the bot wait
 */
export async function converse(context: Context, conversing: Conversing): Promise<Conversed> {
  return waiting.run(context, { botId: conversing.installation.bot_id }, 'messages of this bot', () =>
    converseWithin(context, conversing),
  )
}

async function converseWithin(context: Context, { installation, userId, ...message }: Conversing): Promise<Conversed> {
  const { db, signals, config } = context
  const { bot_id: botId } = installation
  const externalId = converseId(userId)
  const key = { externalUserId: externalId }
  const caller = { installation, externalId, key }
  const known = context.awaited?.eventId
  const eventId = known ?? newId('evt')
  const own = await findOwnLimits(db, botId)
  let isNew = false
  const event = await awaitOutcome(signals, eventId, {
    async ask() {
      if (context.awaited) context.awaited.eventId = eventId
      if (known !== undefined && (await findEvent(db, botId, known))) return
      const user =
        (await findKeyHolder(db, installation.id, key)) ??
        (await insertUser(db, {
          ...ownedBy(installation),
          id: newId('user'),
          externalId,
          tags: { fid: externalId },
        })) ??
        (await findKeyHolder(db, installation.id, key))
      if (!user) throw gone(botId)
      // The conversation of a deleted user is not the next one's, although both have the same id.
      const conversationId = converseId(user.id)
      const receive = () => receiveChatMessage({ ...context, caller }, { ...message, conversationId, eventId })
      if (await receive()) return
      const named = { externalId: conversationId, ownerId: user.id }
      const opened = await insertChatConversation(
        { ...context, caller },
        { ...named, tags: { owner: user.id, fid: conversationId } },
      )
      isNew = opened?.has_started_event ?? false
      if (!(await receive())) throw gone(botId)
    },
    async poll() {
      const row = await findEvent(db, botId, eventId)
      if (!row) throw gone(botId)
      return row.status === 'pending' ? undefined : row
    },
    timeoutMilliseconds: allowedLimits(config.sandbox, own).wallMilliseconds + graceMilliseconds,
    timeoutMessage: `The bot has not handled the message in time; it goes on, and event ${eventId} will hold the outcome`,
  })
  // A flow that begins with the conversation has greeted before.
  const replies = await repliesOf(db, event, { withStart: isNew })
  return { event, responses: replies.flatMap(toResponses) }
}

function ownedBy({ id, bot_id: botId }: Installation) {
  return { botId, installationId: id }
}

function gone(botId: string): ApiError {
  return notFound(`Bot '${botId}'`, 'it was deleted, or the user was, while it handled the message')
}
