import type { FailureReason } from '#sandbox/protocol/contract.ts'

/** One hostile idea: the code of a bot, and how it has to end. `README.md` tells how to write one. */
export interface Hostile {
  /**
   * The body of the bot's `afterIncomingMessage`, which has `event`, `client`, `state` and `logger`; `say(value)`, which
   * sends a text to the conversation; `neighbour`, the ids that an attacker may have got hold of; and `servers`, the ports
   * to which it may connect, and those of the platform.
   */
  body?: string
  /** The whole module instead, for ideas that a hook's body cannot hold. */
  code?: string
  /**
   * Whether the `body` is that of a handler, as bundles of the public SDK have one. It has `event` and `message`,
   * `ask(method, path, input, headers)`, which requests the platform, and `say` and `neighbour` as well.
   */
  sdk?: true
  /** Code before the hooks of a module with a `body`: it runs when the bundle is loaded. */
  before?: string
  /** The code of the hook at the next message, before its reply. */
  later?: string
  /** How the event ends: well (`done`), or for this reason. `refused`: the upload is refused already. */
  outcome: 'done' | 'refused' | FailureReason
  /** The message of the failure: for a limit, its figure. */
  failure?: RegExp
  /** All replies of the bot, in order. */
  replies?: string[]
  /** The replies to the next message that come before the usual one. */
  laterReplies?: string[]
  /** Lines that the bot's log has to have, in this order. */
  logs?: RegExp[]
  /** A pattern that no reply, log line or row of the bot may match. */
  never?: RegExp
  /** Whether the sandbox process has to be killed for it; `perhaps` where that depends on the machine, or on the moment. */
  kills?: true | 'perhaps'
  /** Whether the bot has ruined its own isolate, and answers its next message no more. */
  spoils?: true
  /** Further fields of the upload. */
  upload?: { limits?: Record<string, number> } & Record<string, unknown>
}

export function hostile(idea: Hostile): Hostile {
  return idea
}

/** The ids of the neighbour, as hostile code knows them. */
export interface NeighbourIds {
  botId: string
  conversationId: string
  userId: string
  messageId: string
}

/** The ports on 127.0.0.1 to which hostile code may connect, and those of the platform, to which it may not. */
export interface ServerPorts {
  /** Sends back what it receives. */
  echo: number
  /** Accepts connections, and reads nothing. */
  deaf: number
  /** Sends as long as it is read. */
  flooding: number
  /** The platform's own: its database, its Redis and its api. */
  own: number[]
}

/** The text of the message that comes after the hostile one. */
export const again = 'again'

/** The module of a hostile bot. */
export function moduleOf(idea: Hostile): string {
  if (idea.code !== undefined) return idea.code
  return idea.sdk ? sdkModuleOf(idea) : nativeModuleOf(idea)
}

function nativeModuleOf({ body = '', before = '', later = '' }: Hostile): string {
  return `
    ${before}
    export const hooks = {
      async afterIncomingMessage({ event, client, state, logger }) {
        const say = (value) =>
          client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: String(value) || 'nothing' } })
        if (event.payload.text === '${again}') {
          ${later}
          return void (await say('${again}'))
        }
        const { servers, ...neighbour } = JSON.parse(event.payload.text)
        ${body}
      },
    }`
}

function sdkModuleOf({ body = '', before = '', later = '' }: Hostile): string {
  return `
    ${before}
    const handle = async ({ event, message }) => {
      const ask = async (method, path, input, headers) => {
        const body = input === undefined ? {} : { body: JSON.stringify(input) }
        const authorization = 'Bearer ' + process.env.BP_TOKEN
        const response = await fetch(process.env.BP_API_URL + path, { method, headers: { authorization, ...headers }, ...body })
        return { status: response.status, body: await response.json() }
      }
      const say = (value) =>
        ask('POST', '/v1/chat/messages', { conversationId: event.conversationId, type: 'text', payload: { text: String(value) || 'nothing' } })
      if (message.payload.text === '${again}') {
        ${later}
        return void (await say('${again}'))
      }
      const { servers, ...neighbour } = JSON.parse(message.payload.text)
      ${body}
    }
    exports.handler = async ({ headers, body }) => {
      if (headers['x-bp-operation'] !== 'event_received') return { status: 200 }
      const { event } = JSON.parse(body)
      return (await handle({ event, message: event.payload.message })) ?? { status: 200 }
    }`
}
