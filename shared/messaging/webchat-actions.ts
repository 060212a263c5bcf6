import { ApiError } from '../errors.ts'
import { parseBody } from '../json/parse-body.ts'
import { givenIdTag, isWebchat, webchatIntegration } from '../models/chat-integration.ts'
import { isRecord } from '../models/payload.ts'
import type { WebchatSignal } from '../models/signal.ts'
import { userDataOf } from '../models/webchat.ts'
import { once } from '../rpc/journal.ts'
import type { BotContext } from '../rpc/caller.ts'
import { closedObject, compile } from '../schema.ts'
import { publishEphemeral } from '../signals/after-commit.ts'
import { findConversation, type FoundConversation } from '../store/conversations.ts'
import type { Database } from '../store/database.ts'
import { listInstallations } from '../store/installations.ts'
import { findRuntimeUser } from '../store/runtime-users.ts'
import { invalidInput, noSuchConversation, type ChatAction } from './action-input.ts'
import { publishEvent } from './chat-actions.ts'
import { enter, publishEntrance } from './participants.ts'
import { startTyping, stopTyping } from './typing.ts'
import { getOrCreateUser } from './get-or-create.ts'

const text = { type: 'string' } as const
const id = { type: 'string', minLength: 1, maxLength: 200 } as const

/** Publishes a signal to the open web chats of a conversation. @throws ApiError `ReferenceNotFound` */
async function signal(context: BotContext, sent: WebchatSignal): Promise<Record<string, unknown>> {
  const { conversationId } = sent.data
  await findWebchat(context, context.db, conversationId)
  await publishEphemeral(context, conversationId, sent)
  return {}
}

/** A conversation of the bot's web chat. @throws ApiError `ReferenceNotFound` */
async function findWebchat({ caller }: BotContext, db: Database, id: string): Promise<FoundConversation> {
  const conversation = await findConversation(db, caller.botId, id)
  if (!conversation || !isWebchat(conversation)) throw noSuchConversation(id)
  return conversation
}

const isShown = compile(closedObject({ conversationId: id }), 'body')

const setVisibility =
  (name: string, visibility: 'show' | 'hide' | 'toggle'): ChatAction =>
  async (context, input: unknown) => {
    if (!isShown(input)) throw invalidInput(name, isShown)
    return signal(context, { type: 'webchat_visibility', data: { ...input, visibility } })
  }

const isConfiguring = compile(closedObject({ conversationId: id, config: text }), 'body')

async function configure(context: BotContext, input: unknown): Promise<Record<string, unknown>> {
  if (!isConfiguring(input)) throw invalidInput('webchat:configWebchat', isConfiguring)
  const { conversationId } = input
  const config = readObject('webchat:configWebchat', 'config', input.config)
  return signal(context, { type: 'webchat_config', data: { conversationId, config } })
}

const isCustomEvent = compile(closedObject({ conversationId: id, event: text }), 'body')

async function sendCustomEvent(context: BotContext, input: unknown): Promise<Record<string, unknown>> {
  if (!isCustomEvent(input)) throw invalidInput('webchat:customEvent', isCustomEvent)
  const { conversationId } = input
  const payload = readObject('webchat:customEvent', 'event', input.event)
  return publishEvent(context, { conversationId, payload }, (db) => findWebchat(context, db, conversationId))
}

/** Reads a field with the JSON of an object, as published bots send it. @throws ApiError `InvalidPayload` */
function readObject(action: string, field: string, json: string): Record<string, unknown> {
  try {
    const value = json === '' ? undefined : parseBody(json)
    if (isRecord(value)) return value
  } catch {
    // Refused below, like JSON of something else, and JSON beyond the bounds of a body.
  }
  throw new ApiError('InvalidPayload', `The input of ${action} is invalid: ${field} must be the JSON of an object`)
}

const isAboutUser = compile(closedObject({ userId: id }), 'body')

async function getUserData({ db, caller }: BotContext, input: unknown): Promise<Record<string, unknown>> {
  if (!isAboutUser(input)) throw invalidInput('webchat:getUserData', isAboutUser)
  const user = await findRuntimeUser(db, caller, input.userId)
  if (!user) throw new ApiError('ReferenceNotFound', `User '${input.userId}' not found`)
  return { userData: userDataOf(user) ?? {} }
}

const isNewUser = compile(
  closedObject(
    { user: { type: 'object', required: ['id'], properties: { id, conversationId: text } } },
    { name: { type: 'string', maxLength: 200 }, pictureUrl: { type: 'string', maxLength: 40_000 }, email: text },
  ),
  'body',
)

/** A user who answers in the bot's place: in a given conversation the user is a participant, whose name and picture are shown. */
async function ensureUser(context: BotContext, input: unknown): Promise<Record<string, unknown>> {
  if (!isNewUser(input)) throw invalidInput('webchat:getOrCreateUser', isNewUser)
  const { name, pictureUrl, email, user } = input
  // Not an external id: a key that the site signs for a visitor of that id must not be this user's.
  const given = {
    ...(name !== undefined && { name }),
    ...(pictureUrl !== undefined && { pictureUrl }),
    tags: { [givenIdTag]: user.id, ...(email && { 'webchat:email': email }) },
    discriminateByTags: [givenIdTag],
    integrationName: webchatIntegration,
  }
  const { conversationId } = user
  const { userId, entrance } = await once(context, input, async (db) => {
    const conversation = conversationId === undefined ? undefined : await findWebchat(context, db, conversationId)
    const { row } = await getOrCreateUser(context, db, given)
    return { userId: row.id, entrance: conversation && (await enter(db, conversation, row)) }
  })
  if (entrance) await publishEntrance(context, entrance)
  return { userId }
}

/** The actions of the web chat, by the names under which bots call them. */
export const webchatActions: ReadonlyMap<string, ChatAction> = new Map<string, ChatAction>([
  ['webchat:showWebchat', setVisibility('webchat:showWebchat', 'show')],
  ['webchat:hideWebchat', setVisibility('webchat:hideWebchat', 'hide')],
  ['webchat:toggleWebchat', setVisibility('webchat:toggleWebchat', 'toggle')],
  ['webchat:configWebchat', configure],
  ['webchat:customEvent', sendCustomEvent],
  ['webchat:startTypingIndicator', startTyping('webchat:startTypingIndicator', isWebchat)],
  ['webchat:stopTypingIndicator', stopTyping('webchat:stopTypingIndicator', isWebchat)],
  ['webchat:getUserData', getUserData],
  ['webchat:getOrCreateUser', ensureUser],
])

/**
 * The action of the web chat that a bot calls by this name; undefined when the bot has no web chat. An integration of the
 * bot's workspace may have the same alias.
 */
export async function findWebchatAction({ db, caller }: BotContext, type: string): Promise<ChatAction | undefined> {
  const action = webchatActions.get(type)
  if (!action) return undefined
  const installed = await listInstallations(db, caller.botId)
  return installed.some((row) => row.enabled && isWebchat(row)) ? action : undefined
}
