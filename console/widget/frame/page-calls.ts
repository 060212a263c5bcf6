import type { GivenUser, Method, ToFrame, ToPage } from '../protocol.ts'
import type { Payload, User } from './types.ts'

/** The parts of the chat that a page may use. */
interface Callable {
  say(payload: Payload): void
  sendEvent(data: object): Promise<void>
  updateUser(changed: GivenUser): Promise<User | undefined> | undefined
  getUser(): Promise<User | undefined>
  openConversation(id: string | undefined): void
}

/** Carries out the calls of the page, and answers each. */
export function openPageCalls(
  { say, sendEvent, updateUser, getUser, openConversation }: Callable,
  post: (message: ToPage) => void,
): (call: Extract<ToFrame, { type: 'call' }>) => Promise<void> {
  const methods: Record<Method, (argument: unknown) => unknown> = {
    sendMessage(text) {
      if (typeof text !== 'string' || text.trim() === '') throw new Error('sendMessage needs a text')
      say({ type: 'text', text })
    },
    sendEvent(data) {
      if (typeof data !== 'object' || data === null) throw new Error('sendEvent needs an object')
      return sendEvent(data)
    },
    updateUser: (changed) => updateUser(changed ?? {}),
    getUser,
    restartConversation: () => openConversation(undefined),
  }
  return async ({ id, method, argument }) => {
    try {
      post({ type: 'result', id, value: await methods[method](argument) })
    } catch (error) {
      post({ type: 'result', id, error: error instanceof Error ? error.message : String(error) })
    }
  }
}
