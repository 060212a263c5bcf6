import { Client, type AuthenticatedClient } from '@botpress/chat'
import type { Connection } from '../../../cli/connection.ts'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'

export type Handover = AnswerOf<'listHandovers'>['handovers'][number]
type Payload = Record<string, unknown>

/** A message as its reader sees it: the payload has the fields that were sent, and perhaps others. */
export interface Read {
  author: string
  type: string
  payload: Payload
}

const pollMilliseconds = 100
const timeoutMilliseconds = 20_000

/** A user of the chat, and the members of the workspace as one caller of the Admin API. */
export interface Scene {
  user: AuthenticatedClient
  name: string
  conversationId: string
  /** The address of the bot's web chat. */
  webchatUrl: string
  /** Restarts the platform. */
  restart(): Promise<void>
  /** Sends a text of the user. */
  say(text: string): Promise<void>
  /** Sends a message of the user. */
  send(payload: Payload): Promise<void>
  /** Waits for the next message of the bot or a member to the user, which must be as given. */
  hear(type: string, payload: Payload): Promise<void>
  /** Waits for the handover that the plugin has begun last. */
  session(status: Handover['status']): Promise<Handover>
  /** Waits until the handover's user is gone. */
  forgotten(handover: Handover): Promise<void>
  /** Calls an operation on a path of the bot. */
  asMember(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown>
  /** The messages of the inbox's conversation, the oldest first. */
  transcript(handover: Handover): Promise<Read[]>
  /** Waits for a message in the inbox, the last of which must be as given. */
  sees(handover: Handover, expected: Read): Promise<void>
}

/** Opens a conversation of a new user. */
export async function openScene(
  api: Connection,
  bot: { id: string; chatUrl: string; webchatUrl: string; restart(): Promise<void> },
): Promise<Scene> {
  const user = await Client.connect({ apiUrl: bot.chatUrl })
  // Sessions are found by the name.
  const name = `Grace ${crypto.randomUUID()}`
  const { user: created } = await user.updateUser({ name })
  const { conversation } = await user.createConversation({})
  const conversationId = conversation.id
  let heard = 0

  const path = (rest: string) => `/v1/admin/bots/${bot.id}${rest}`
  const send: Scene['send'] = async (payload) => {
    await user.createMessage({ conversationId, payload: payload as never })
  }
  const handovers = async () => (await api.ask<'listHandovers'>('GET', path('/handovers'))).handovers
  const transcript: Scene['transcript'] = async (handover) => {
    const { messages } = await api.ask<'listBotConversationMessages'>(
      'GET',
      path(`/conversations/${handover.conversationId}/messages`),
    )
    return messages
      .map(({ author, type, payload = {} }) => ({ author: author.name ?? author.kind, type, payload }))
      .toReversed()
  }

  return {
    user,
    name,
    conversationId,
    webchatUrl: bot.webchatUrl,
    restart: bot.restart,
    send,
    transcript,
    say: (text) => send({ type: 'text', text }),
    async hear(type, payload) {
      const message = await until(
        async () => {
          const { messages } = await user.listMessages({ conversationId })
          return messages.toReversed().filter(({ userId }) => userId !== created.id)[heard]
        },
        `the user hears ${type} ${JSON.stringify(payload)}`,
      )
      heard += 1
      assertIncludes({ ...message.payload }, { type, ...payload })
    },
    session: (status) =>
      until(
        async () => (await handovers()).find((one) => one.user?.name === name && one.status === status),
        `the handover is ${status}`,
      ),
    async forgotten({ id }) {
      await until(
        async () => (await handovers()).find((one) => one.id === id && one.user === undefined),
        'the handover has no user',
      )
    },
    asMember: (method, rest, body) => api.ask(method, path(rest), body && { body }),
    async sees(handover, expected) {
      let last: Read | undefined
      await until(
        async () => {
          last = (await transcript(handover)).at(-1)
          return last && includes(last, expected)
        },
        `the inbox has ${JSON.stringify(expected)}`,
      ).catch((error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify(last)}`)
      })
    },
  }
}

/** Polls until there is a value. @throws Error after 20 s */
export async function until<T>(look: () => Promise<T | undefined | false>, what: string): Promise<T> {
  const deadline = Date.now() + timeoutMilliseconds
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`Not within 20 s: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds))
  }
}

function assertIncludes(actual: Payload, expected: Payload): void {
  if (!includes(actual, expected)) {
    throw new Error(`Expected ${JSON.stringify(expected)}, not ${JSON.stringify(actual)}`)
  }
}

/** Whether a value has all fields of another one, with their values. */
function includes(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return actual === expected
  if (typeof actual !== 'object' || actual === null) return false
  return Object.entries(expected).every(([name, value]) => includes((actual as Payload)[name], value))
}
