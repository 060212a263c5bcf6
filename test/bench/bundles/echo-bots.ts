import type { BundleKind, JsonObject } from '#sandbox/protocol/contract.ts'
import { compile } from '../../support/compiler.ts'
import { bundleSdk } from '../../sdk/bundle.ts'
import { conversationId, platformUrl } from './platform.ts'

/** A bot that echoes text messages. */
export interface EchoBot {
  name: string
  kind: BundleKind
  /** A CommonJS script. */
  code: string
  environment: Record<string, string>
  /** The input for a message: the `event` object of a native bot, or the request to an SDK bot's handler. */
  input: JsonObject
  /** Calls to the platform per message. */
  calls: number
}

const native = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: 'You said: ' + event.preview },
      })
    },
  }
`

const botId = 'bot_01K0000000000000000000000'
const userId = 'user_01K0000000000000000000000'
const createdAt = '2026-01-02T03:04:05.678Z'
const payload = { type: 'text', text: 'hello' }

const event: JsonObject = {
  id: 'evt_01K0000000000000000000000',
  botId,
  createdOn: createdAt,
  direction: 'incoming',
  type: 'message_created',
  payload,
  preview: 'hello',
  state: { bot: {}, user: {}, conversation: {}, session: {}, temp: {} },
  tags: {},
  conversationId,
  userId,
  messageId: 'msg_01K0000000000000000000000',
}

const runtimeEvent: JsonObject = {
  id: 'evt_01K0000000000000000000000',
  createdAt,
  type: 'message_created',
  payload: {
    message: {
      id: 'msg_01K0000000000000000000000',
      createdAt,
      type: 'text',
      payload,
      tags: {},
      conversationId,
      userId,
      direction: 'incoming',
    },
    user: { id: userId, createdAt, updatedAt: createdAt, tags: {} },
    conversation: { id: conversationId, createdAt, updatedAt: createdAt, channel: 'channel', tags: {} },
  },
}

const request: JsonObject = {
  method: 'POST',
  path: '/',
  query: '',
  headers: {
    'content-type': 'application/json',
    'x-bot-id': botId,
    'x-bot-user-id': botId,
    'x-bp-operation': 'event_received',
    'x-bp-type': 'message_created',
    'x-bp-configuration': Buffer.from('{}').toString('base64'),
  },
  body: JSON.stringify({ event: runtimeEvent }),
}

/** Builds a native bot as uploads are compiled, and SDK bots as the public command line bundles them. */
export async function buildEchoBots(): Promise<EchoBot[]> {
  const { code } = (await compile(native)).native
  const sdk = {
    kind: 'sdk',
    environment: { BP_API_URL: platformUrl, BP_TOKEN: 'not-needed', BP_LOG_FORMAT: 'json' },
    input: request,
    calls: 3,
  } as const
  return [
    { name: 'native', kind: 'native', code, environment: {}, input: event, calls: 1 },
    { name: 'sdk', ...sdk, code: await bundleSdk('echo-bot.ts') },
    { name: 'sdk of 4 MB', ...sdk, code: await bundleSdk('large-bot.ts') },
  ]
}
