import { CognitiveBeta } from '@botpress/cognitive'
import { Bot } from '@botpress/sdk'
import { CognitiveBeta as EarlierCognitive } from 'cognitive-0.3'

/** Answers a text with those of models, streamed by both published generations of the client of models. */
const bot = new Bot({ actions: {}, plugins: {} })

bot.on.message('text', async ({ client, message, conversation, ctx }) => {
  const { text } = message.payload as { text: string }
  const { BP_API_URL: apiUrl, BP_TOKEN: token } = process.env
  const options = { apiUrl: apiUrl!, token: token!, botId: ctx.botId }
  const answers: string[] = []
  for (const cognitive of [new CognitiveBeta(options), new EarlierCognitive(options)]) {
    let answer = ''
    for await (const chunk of cognitive.generateTextStream({ messages: [{ role: 'user', content: text }] })) {
      answer += chunk.output ?? ''
      if (chunk.metadata) answer += ` (${chunk.metadata.usage.outputTokens} tokens)`
    }
    answers.push(answer)
  }
  await client.createMessage({
    conversationId: conversation.id,
    userId: ctx.botId,
    type: 'text',
    payload: { text: answers.join(', ') },
    tags: {},
  })
})

export default bot
