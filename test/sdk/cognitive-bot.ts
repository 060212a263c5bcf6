import { Cognitive } from '@botpress/cognitive'
import { Bot } from '@botpress/sdk'
import { Cognitive as EarlierCognitive } from 'cognitive-0.3'

/** Answers a text with those of models, as both published generations of the client of models get them. */
const bot = new Bot({ actions: {}, plugins: {} })

bot.on.message('text', async ({ client, message, conversation, ctx }) => {
  const { text } = message.payload as { text: string }
  // The client of the SDK is the one that they expect; their types name another version of it.
  const options = { client: client as never, __experimental_beta: true }
  const answers = await Promise.all(
    [new Cognitive(options), new EarlierCognitive(options), new Cognitive({ client })].map(async (cognitive, index) => {
      const { output, meta } = await cognitive.generateContent({
        model: 'openai:gpt-4.1-2025-04-14',
        systemPrompt: 'Be brief.',
        messages: [{ role: 'user', content: `${text} ${index}` }],
      })
      const [choice] = output.choices
      const said = typeof choice?.content === 'string' ? choice.content : 'nothing'
      return `${said} (${meta.tokens.input} tokens)`
    }),
  )
  await client.createMessage({
    conversationId: conversation.id,
    userId: ctx.botId,
    type: 'text',
    payload: { text: answers.join(', ') },
    tags: {},
  })
})

export default bot
