import { createChatter } from './chatter.ts'
import type { Answer, Platform } from './platform.ts'

/** Asks a runtime operation of the platform as a bot. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<Pick<Answer, 'status' | 'body'>>

/** A bot, and the ways in which it reaches the platform. A test that walks through all of them proves that they meet. */
export interface BotWithDoors {
  botId: string
  userId: string
  conversationId: string
  doors: { overHttp: Ask; fromSandbox: Ask }
}

/**
 * Bot code that makes whatever request its `ask` action is given, by the plain way in which its client makes them, and
 * gives back the reply. It also has the action `greet`.
 */
const asker = `
  const names = {
    'POST messages': 'createMessage', 'GET messages': 'listMessages', 'GET messages/': 'getMessage',
    'POST events': 'createEvent', 'GET conversations/': 'getConversation', 'GET users/': 'getUser',
    'GET states/': 'getState', 'POST states/': 'setState', 'POST actions': 'callAction',
  }
  function toInput(path, query, body) {
    const [kind, ...rest] = path.split('/').filter(Boolean).slice(2).map(decodeURIComponent)
    const parameters = kind === 'states' ? { type: rest[0], id: rest[1], name: rest[2] } : rest.length > 0 ? { id: rest[0] } : {}
    return { kind: rest.length > 0 ? kind + '/' : kind, input: { ...query, ...body, ...parameters } }
  }
  export const actions = {
    async ask({ input, client }) {
      const { kind, input: given } = toInput(input.path, input.query, input.body)
      try {
        return { status: 200, body: await client[names[input.method + ' ' + kind]](given) }
      } catch (error) {
        const { code, type, message, id } = error
        return { status: code, body: { code, type, message, id } }
      }
    },
    greet: ({ input }) => ({ text: 'Hello ' + input.name }),
    fail: () => { throw new Error('on purpose') },
  }
  export const hooks = {}
`

/** Deploys the asking bot, with a user and a conversation. */
export async function openDoors(platform: Platform): Promise<BotWithDoors> {
  const bot = await platform.createBot(asker)
  const chatter = await createChatter(bot.chatUrl)
  const conversationId = await chatter.createConversation()
  const overHttp: Ask = (method, path, body) => platform.ask(method, path, body, { 'x-bot-id': bot.id })
  const fromSandbox: Ask = async (method, path, body) => {
    const [plain = '', search] = path.split('?')
    const query = Object.fromEntries(new URLSearchParams(search))
    const input = { type: 'ask', input: { method, path: plain, query, body } }
    const called = await overHttp('POST', '/v1/chat/actions', input)
    if (called.status !== 200) throw new Error(`The asking action failed: ${JSON.stringify(called.body)}`)
    const { status, body: reply } = called.body.output
    // The client gives the body alone; that it came means that the status was one of success.
    return { status: status === 200 && method === 'POST' ? statusOfSuccess(plain) : status, body: reply }
  }
  return { botId: bot.id, userId: chatter.userId, conversationId, doors: { overHttp, fromSandbox } }
}

function statusOfSuccess(path: string): number {
  return /\/(messages|events)$/.test(path) ? 201 : 200
}
