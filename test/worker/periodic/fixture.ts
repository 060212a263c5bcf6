import { look } from '../../../worker/periodic/scheduler.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { openPlatform, type DeployedBot, type Platform, type PlatformOptions } from '../../support/platform.ts'

/** A bot with a conversation, on a platform where what is due can be looked for at once. */
export interface SchedulerFixture extends AsyncDisposable {
  platform: Platform
  db: Platform['context']['db']
  bot: DeployedBot
  chatUser: ChatUser
  conversationId: string
  /** Asks a runtime operation as the bot, and gives what it answers. */
  // Answers are asserted on field by field; their types are the schemas' business.
  // oxlint-disable-next-line typescript/no-explicit-any
  ask(method: string, path: string, body?: unknown): Promise<any>
  /** Several workers look for what is due at the same time. */
  look(): Promise<unknown>
}

/** Rows that are due since then are due now. */
export const longAgo = new Date(0)

export async function openSchedulerFixture(options?: PlatformOptions): Promise<SchedulerFixture> {
  const platform = await openPlatform(options)
  const { context } = platform
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  return {
    platform,
    db: context.db,
    bot,
    chatUser,
    conversationId: await chatUser.createConversation(),
    async ask(method, path, body) {
      const answer = await platform.ask(method, `/v1/chat${path}`, body, { 'x-bot-id': bot.id })
      if (answer.status >= 400) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
    look: () => Promise.all([1, 2, 3, 4].map(() => look(context))),
    [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose](),
  }
}
