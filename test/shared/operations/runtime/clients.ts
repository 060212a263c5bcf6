import { Client } from '@botpress/client'
import { dispatch } from '#shared/dispatch.ts'
import { newId } from '#shared/ids.ts'
import { findInstallation } from '#shared/store/installations.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import type { Platform } from '../../../support/platform.ts'

/**
 * Calls a runtime operation by its name, and gives what it answers.
 *
 * @throws an error with `code` and `type`, as both clients do
 */
// Answers are asserted on field by field; their types are the schemas' business.
// oxlint-disable-next-line typescript/no-explicit-any
export type Call = (operation: string, input?: object) => Promise<any>

/** A bot with a user and a conversation, and the two clients that it has: the published one, and that of its own code. */
export interface BotWithClients {
  botId: string
  userId: string
  conversationId: string
  clients: Record<ClientName, Call>
}

export const clientNames = ['the published client', 'the client of bot code'] as const
export type ClientName = (typeof clientNames)[number]

const code = `
  export const actions = {
    async call({ input, client }) {
      try {
        return { answer: await client[input.operation](input.given) }
      } catch ({ code, type, message }) {
        return { refusal: { code, type, message } }
      }
    },
  }
  export const hooks = {}`

export async function openClients(platform: Platform): Promise<BotWithClients> {
  const bot = await platform.createBot(code)
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const published = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
  const overHttp: Call = (operation, input = {}) =>
    (published as unknown as Record<string, (given: object) => Promise<unknown>>)[operation]!(input)
  const fromCode: Call = async (operation, given = {}) => {
    const { output } = await published.callAction({ type: 'call', input: { operation, given } })
    if (output['refusal']) throw Object.assign(new Error('The platform refused the call'), output['refusal'])
    return output['answer']
  }
  return {
    botId: bot.id,
    userId: chatUser.userId,
    conversationId,
    clients: { 'the published client': overHttp, 'the client of bot code': fromCode },
  }
}

/** An integration that is installed on a bot, and asks as such: over no door, since both only say who asks. */
export interface InstalledIntegration {
  integrationId: string
  installationId: string
  ask(method: string, path: string, body?: unknown): ReturnType<typeof dispatch>
}

/** Stores an integration, of the platform's workspace unless another is given, and installs it under an alias. */
export async function installIntegration(
  { context, workspaceId }: Platform,
  botId: string,
  alias: string,
  ownerId = workspaceId,
): Promise<InstalledIntegration> {
  const { db, config } = context
  const [integrationId, installationId] = [newId('int'), newId('int')]
  await db('integrations').insert({
    id: integrationId,
    workspace_id: ownerId,
    name: `carrier-${integrationId}`,
    version: '1.0.0',
    definition: {},
    kind: 'native',
    code_id: integrationId,
    hash: '',
    source: '',
    script: '',
    source_map: '',
  })
  await db('installations').insert({
    id: installationId,
    bot_id: botId,
    integration: 'carrier',
    integration_id: integrationId,
    integration_workspace_id: ownerId,
    alias,
    webhook_id: installationId,
  })
  const installation = (await findInstallation(db, config.secret, botId, installationId))!
  return {
    integrationId,
    installationId,
    ask: (method, path, body) =>
      dispatch(context, {
        method,
        path,
        query: {},
        body: async () => body,
        identify: () => ({ kind: 'bot', botId, installation }),
      }),
  }
}
