// The bot that `npm start` deploys. It echoes messages, counts in the conversation's state, and calls an action.

export const hooks = {
  async afterIncomingMessage({ event, client, state, logger }) {
    state.conversation.messages = (state.conversation.messages ?? 0) + 1
    logger.info('Message', state.conversation.messages, 'of this conversation:', event.preview)

    const { output } = await client.callAction({ type: 'greet', input: { name: event.tags.user?.fid ?? 'stranger' } })
    const greeting = state.conversation.messages === 1 ? `${output.text} ` : ''

    await client.createMessage({
      conversationId: event.conversationId,
      type: 'text',
      payload: { text: `${greeting}You said: ${event.preview}` },
    })
  },

  async afterIncomingEvent({ event, client }) {
    // A person has answered, and the bot goes on with the next message.
    if (!event.conversationId || event.type === 'handover_ended') return
    if (event.type === 'webchat:conversationStarted') {
      const payload = { text: 'Hello! Write a message, and I **repeat** it.' }
      return void (await client.createMessage({ conversationId: event.conversationId, type: 'text', payload }))
    }
    await client.createMessage({
      conversationId: event.conversationId,
      type: 'text',
      payload: { text: `Event ${event.type} with ${JSON.stringify(event.payload)}` },
    })
  },
}

export const actions = {
  async greet({ input }) {
    return { text: `Hello ${input.name}!` }
  },
}
