import type { Client, Hooks, IncomingMessage } from 'isobot/bot'
import { answers, personWords } from './answers'

/** The time after which a handover that nobody has taken ends. */
const expiresInSeconds = 8 * 60 * 60

export const hooks: Hooks = {
  async afterIncomingMessage({ event, client }) {
    const { conversationId, payload, preview } = event
    const wantsPerson = (payload.type === 'text' && payload.value === 'person') || personWords.test(preview)
    if (wantsPerson) return void (await handOver(event, client))
    const found = answers.find(({ words }) => words.test(preview))
    if (found)
      return void (await client.createMessage({ conversationId, type: 'text', payload: { text: found.answer } }))
    const options = [{ label: 'Talk to a person', value: 'person' }]
    const text = 'I do not know that. I can tell our opening hours, and about delivery and returns.'
    await client.createMessage({ conversationId, type: 'choice', payload: { text, options } })
  },

  async afterIncomingEvent({ event, client }) {
    if (event.type !== 'handover_ended') return
    const text =
      event.payload.status === 'resolved'
        ? 'Thank you for the talk. I am the bot again.'
        : 'Nobody could answer, we are sorry. Please write to shop@example.com.'
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
  },
}

/** Gives the conversation to people: until they hand it back, no hook runs for its messages. */
async function handOver({ conversationId, preview }: IncomingMessage, client: Client): Promise<void> {
  const { online } = await client.getPresence({})
  await client.handover({ conversationId, title: preview.slice(0, 200), expiresInSeconds })
  const text =
    online > 0 ? 'Somebody will be with you in a moment.' : 'Nobody is here now. We answer as soon as we can.'
  await client.createMessage({ conversationId, type: 'text', payload: { text } })
}
