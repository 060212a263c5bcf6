import type { Hooks } from 'isobot/bot'
import { questions } from './questions'

interface Turn {
  role: 'user' | 'assistant'
  content: string
}

declare module 'isobot/bot' {
  interface SessionState {
    /** The conversation until now, for questions such as “And on Sunday?”. */
    turns?: Turn[]
  }
}

/** The number of earlier messages that the model gets. */
const maxTurns = 10

const systemPrompt = [
  'You answer the customers of a shop, in one or two sentences, and in their language.',
  'Use these answers only. If none of them fits, say that you do not know it.',
  ...questions.map(({ question, answer }) => `Question: ${question}\nAnswer: ${answer}`),
].join('\n\n')

export const hooks: Hooks = {
  async afterIncomingMessage({ event, client, state, logger }) {
    const turns: Turn[] = [...(state.session.turns ?? []), { role: 'user', content: event.preview }]
    // Users read the answer while the model writes it.
    const message = client.streamMessage(event.conversationId)
    let answer = ''
    try {
      for await (const { output } of client.generateTextStream({ systemPrompt, messages: turns })) {
        answer += output
        await message.write(output)
      }
      await message.end()
    } catch (error) {
      logger.error('The model gives no answer:', error)
      await message.end({ type: 'text', payload: { text: 'I cannot answer at the moment. Please ask again later.' } })
      return
    }
    state.session.turns = [...turns, { role: 'assistant' as const, content: answer }].slice(-maxTurns)
  },
}
