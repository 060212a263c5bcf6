import { parse } from 'node:querystring'
import { nestQuery } from '#shared/rpc/query.ts'
import { findOperation } from '#shared/router.ts'
import { createChatUser } from './chat-client.ts'
import type { Answer, Platform } from './platform.ts'

/** Calls a runtime operation of the platform as a bot. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<Pick<Answer, 'status' | 'body'>>

/** A bot, and all its ways to call the platform. A test that uses each of them proves that they are equivalent. */
export interface BotWithEntryPoints {
  botId: string
  userId: string
  conversationId: string
  entryPoints: { overHttp: Ask; fromSandbox: Ask }
}

/**
 * Bot code whose `ask` action calls a given method of its client and returns the result. It also has the actions
 * `greet` and `fail`.
 */
const asker = `
  export const actions = {
    async ask({ input, client }) {
      try {
        return { body: await client[input.name](input.input) }
      } catch (error) {
        const { code, type, message, id, metadata } = error
        return { status: code, body: { code, type, message, id, metadata } }
      }
    },
    greet: ({ input }) => ({ text: 'Hello ' + input.name }),
    fail: () => { throw new Error('on purpose') },
  }
  export const hooks = {}
`

/** Deploys that bot, with a user and a conversation. */
export async function openEntryPoints(platform: Platform): Promise<BotWithEntryPoints> {
  const bot = await platform.createBot(asker)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const overHttp: Ask = (method, path, body) => platform.ask(method, path, body, { 'x-bot-id': bot.id })
  const fromSandbox: Ask = async (method, path, body) => {
    const [plain = '', search] = path.split('?')
    const { operation, parameters } = findOperation(method, plain)
    const input = { ...nestQuery(parse(search ?? '')), ...(body as object | undefined), ...parameters }
    const called = await overHttp('POST', '/v1/chat/actions', { type: 'ask', input: { name: operation.name, input } })
    if (called.status !== 200) throw new Error(`The asking action failed: ${JSON.stringify(called.body)}`)
    // The client returns only the body; a result implies the operation's status.
    const { status = operation.status, body: reply } = called.body.output
    return { status, body: reply }
  }
  return { botId: bot.id, userId: chatUser.userId, conversationId, entryPoints: { overHttp, fromSandbox } }
}
