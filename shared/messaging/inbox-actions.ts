import { newId } from '../ids.ts'
import { ApiError } from '../errors.ts'
import { inboxIntegration, isInbox } from '../models/chat-integration.ts'
import { handoverDescription, handoverTitle, maxHandoverSeconds } from '../models/handover.ts'
import type { BotContext } from '../rpc/caller.ts'
import { once } from '../rpc/journal.ts'
import { closedObject, compile } from '../schema.ts'
import { endSession } from '../store/handovers.ts'
import { findSession, findUsersOf, insertSession } from '../store/inbox.ts'
import { listInstallations } from '../store/installations.ts'
import { insertUser } from '../store/users.ts'
import { announceHandover } from './inbox-news.ts'
import { invalidInput, noSuchConversation, type ChatAction } from './action-input.ts'
import { toStoredContent } from './create-message.ts'

/** An action of the inbox: validates its input and returns its output. */
type InboxAction = (
  context: BotContext,
  installationId: string,
  input: Record<string, unknown>,
) => Promise<Record<string, unknown>>

const id = { type: 'string', minLength: 1, maxLength: 200 } as const

/** Upper bound of the messages that a session begins with. */
const maxHistory = 1000

const isNewUser = compile(
  closedObject(
    { name: { type: 'string', maxLength: 1000 } },
    { pictureUrl: { type: 'string', maxLength: 40_000 }, email: { type: 'string', maxLength: 500 } },
  ),
  'body',
)

async function createUser(context: BotContext, installationId: string, input: unknown) {
  if (!isNewUser(input)) throw invalidInput('inbox:createUser', isNewUser)
  const { name, pictureUrl, email } = input
  return once(context, input, async (db) => {
    const { botId } = context.caller
    const tags = { ...(email && { [`${inboxIntegration}:email`]: email }) }
    const user = { id: newId('user'), botId, installationId, name: cut(name, 200) ?? '', pictureUrl, tags }
    await insertUser(db, user)
    return { userId: user.id }
  })
}

const isSession = compile(
  closedObject(
    {
      userId: id,
      messageHistory: {
        type: 'array',
        maxItems: maxHistory,
        items: {
          type: 'object',
          required: ['source', 'type', 'payload'],
          properties: {
            source: {
              type: 'object',
              discriminator: { propertyName: 'type' },
              required: ['type'],
              oneOf: [
                { required: ['userId'], properties: { type: { const: 'user' }, userId: id } },
                { properties: { type: { const: 'bot' } } },
              ],
            },
            type: { type: 'string', minLength: 1, maxLength: 200 },
            payload: { type: 'object' },
          },
        },
      },
    },
    {
      title: { type: 'string' },
      description: { type: 'string' },
      hitlSession: closedObject({}, { expiresInSeconds: { type: 'integer', minimum: 1, maximum: maxHandoverSeconds } }),
    },
  ),
  'body',
)

async function startHitl(context: BotContext, installationId: string, input: unknown) {
  if (!isSession(input)) throw invalidInput('inbox:startHitl', isSession)
  const { caller } = context
  const { botId } = caller
  const { userId, title, description, hitlSession, messageHistory }: StartInput = input
  const output = await once(context, input, async (transaction) => {
    const authors = messageHistory.map(({ source }) => (source.type === 'user' ? source.userId : userId))
    const known = await findUsersOf(transaction, { botId, installationId }, [userId, ...new Set(authors)])
    const unknown = [userId, ...authors].find((author) => !known.has(author))
    if (unknown !== undefined) throw new ApiError('ReferenceNotFound', `User '${unknown}' of the inbox not found`)
    const conversationId = newId('conv')
    await insertSession(transaction, {
      handoverId: newId('handover'),
      conversationId,
      botId,
      installationId,
      channel: 'hitl',
      userId,
      // Plugins send titles of any length, and members need them in a list.
      title: cut(title, handoverTitle.maxLength),
      description: cut(description, handoverDescription.maxLength),
      expiresInSeconds: hitlSession?.expiresInSeconds,
      eventId: caller.execution?.eventId,
      messages: messageHistory.map(({ source, type, payload }) => ({
        id: newId('msg'),
        user_id: source.type === 'user' ? source.userId : botId,
        direction: source.type === 'user' ? ('incoming' as const) : ('outgoing' as const),
        type,
        metadata: null,
        ...toStoredContent(payload),
      })),
    })
    return { conversationId }
  })
  const session = await findSession(context.db, { botId, installationId, ...output })
  if (session) await announceHandover(context, session.id, 'created')
  return output
}

interface StartInput {
  userId: string
  title?: string
  description?: string
  hitlSession?: { expiresInSeconds?: number }
  messageHistory: {
    source: { type: 'user'; userId: string } | { type: 'bot' }
    type: string
    payload: Record<string, unknown>
  }[]
}

/** The start of a text, undefined when it is empty. */
function cut(text: string | undefined, length: number): string | undefined {
  return text ? text.slice(0, length).toWellFormed() : undefined
}

const isEnding = compile(closedObject({ conversationId: id }), 'body')

/** The bot knows that the session ends, so it receives no event. */
async function stopHitl(context: BotContext, installationId: string, input: unknown) {
  if (!isEnding(input)) throw invalidInput('inbox:stopHitl', isEnding)
  const { botId } = context.caller
  const { conversationId } = input
  const ended: { id?: string } = await once(context, input, async (transaction) => {
    const session = await findSession(transaction, { botId, installationId, conversationId })
    if (!session) throw noSuchConversation(conversationId)
    // Repeated, or a member was faster.
    if (session.ended_at === null) await endSession(transaction, { botId, id: session.id })
    return { id: session.id }
  })
  // Calls that an earlier version of the platform has recorded have no id.
  if (ended.id !== undefined) await announceHandover(context, ended.id, 'ended')
  return {}
}

const actions: ReadonlyMap<string, InboxAction> = new Map<string, InboxAction>([
  ['inbox:createUser', createUser],
  ['inbox:startHitl', startHitl],
  ['inbox:stopHitl', stopHitl],
])

/** The names under which bots call the actions of the inbox. */
export const inboxActionNames: readonly string[] = [...actions.keys()]

/** The action of the inbox that a bot calls by this name; undefined when the bot has no inbox. */
export async function findInboxAction({ db, caller }: BotContext, type: string): Promise<ChatAction | undefined> {
  const action = actions.get(type)
  if (!action) return undefined
  const installation = (await listInstallations(db, caller.botId)).find((row) => row.enabled && isInbox(row))
  return installation && ((context, input) => action(context, installation.id, input))
}
