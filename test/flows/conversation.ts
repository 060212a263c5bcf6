import { createChatUser } from '../support/chat-client.ts'
import { endedEvents, eventsAtEnd } from '../support/outcomes.ts'
import type { Platform } from '../support/platform.ts'

/** A conversation with a bot: what the user says, and what the bot answers to it. */
export interface Conversation {
  id: string
  /** Sends a message, waits until the bot has handled it, and returns the texts of its replies to it. */
  say(text: string): Promise<string[]>
  /** The bot's replies that have not been returned yet. */
  heard(): Promise<string[]>
}

export async function openConversation(
  platform: Platform,
  { id: botId, chatUrl }: { id: string; chatUrl: string },
): Promise<Conversation> {
  const user = await createChatUser(chatUrl)
  const id = await user.createConversation()
  let known = 0
  const heard = async () => {
    const rows = await platform.context
      .db('messages')
      .where({ conversation_id: id, direction: 'outgoing' })
      .orderBy(['created_at', 'id'])
    const fresh = rows
      .slice(known)
      .map(({ payload }) => (typeof payload['text'] === 'string' ? payload['text'] : JSON.stringify(payload)))
    known = rows.length
    return fresh
  }
  return {
    id,
    heard,
    async say(text) {
      const before = await eventsAtEnd(platform, botId)
      await user.send(id, text)
      await endedEvents(platform, botId, before.length + 1)
      return heard()
    },
  }
}
