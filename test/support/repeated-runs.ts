import { dispatch } from '#shared/dispatch.ts'
import type { Installation } from '#shared/models/tables.ts'
import { claimNextEvents } from '#shared/store/mailboxes.ts'
import { createChatUser, type ChatUser } from './chat-client.ts'
import { installIntegration, storeIntegration } from './install-integration.ts'
import type { DeployedBot, Platform } from './platform.ts'

/** Makes a call as a run: of the bot, or of the installation that is given. Paths of the runtime API need no `/v1/chat/`. */
export type Run = (
  method: string,
  path: string,
  body?: object,
  as?: { installation?: Installation },
  // Answers are asserted on field by field; their types are the schemas' business.
  // oxlint-disable-next-line typescript/no-explicit-any
) => Promise<{ status: number; body: any }>

/** A bot with an integration and an event that waits in a chat, and the runs of that event, one after the other. */
export interface Runs {
  bot: DeployedBot
  chatUser: ChatUser
  conversationId: string
  installation: Installation
  /** Claims the event, or that of another mailbox. */
  begin(mailbox?: string): Promise<Run>
}

const callAction = async () => ({})

/** Opens it on a platform without a worker. */
export async function openRuns(platform: Platform): Promise<Runs> {
  const { context } = platform
  const bot = await platform.createBot()
  const row = await installIntegration(platform, bot.id, await storeIntegration(platform))
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  const begin: Runs['begin'] = async (mailbox = conversationId) => {
    const event = (await claimNextEvents(context.db, [mailbox]))[0]!
    const counts = new Map<string, number>()
    return async (method, path, body = {}, as = {}) =>
      dispatch(context, {
        method,
        path: path.startsWith('/') ? path : `/v1/chat/${path}`,
        query: {},
        body: async () => body,
        identify({ name: operation }) {
          const ordinal = (counts.get(operation) ?? 0) + 1
          counts.set(operation, ordinal)
          const { id: eventId, attempt } = event
          const call = { operation, ordinal }
          return {
            kind: 'bot',
            botId: bot.id,
            ...as,
            execution: { eventId, attempt, call, openStreams: new Map(), callAction },
          }
        },
      })
  }
  return { bot, chatUser, conversationId, installation: { ...row, configuration: {} }, begin }
}
