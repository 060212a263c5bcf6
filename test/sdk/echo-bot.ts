import { Bot } from '@botpress/sdk'

/** Answers texts with what was said and how often something was, counted in a state of the conversation. */
const bot = new Bot({
  actions: {
    async greet({ input, logger }) {
      logger.info('greeting', input)
      return { text: `Hello ${(input as { name: string }).name}` }
    },
  },
  plugins: {},
})

bot.on.message('text', async ({ client, message, conversation, ctx }) => {
  await client.createMessage({
    conversationId: conversation.id,
    userId: ctx.botId,
    type: 'text',
    payload: { text: `You said: ${(message.payload as { text: string }).text}` },
    tags: {},
  })
  const { state } = await client.getOrSetState({
    type: 'conversation',
    id: conversation.id,
    name: 'counter',
    payload: { n: 0 },
  })
  await client.setState({
    type: 'conversation',
    id: conversation.id,
    name: 'counter',
    payload: { n: (state.payload as { n: number }).n + 1 },
  })
})

bot.on.event('*', async ({ event, client, logger }) => {
  logger.warn('an event:', event.type)
  await client.updateConversation({ id: event.conversationId ?? '', tags: { seen: event.type } })
})

export default bot
