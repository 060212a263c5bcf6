import type { ActionContext, ActionsOf, Hooks } from 'isobot/bot'

/** What this bot keeps, does and hears, for the editor to complete. */
declare module 'isobot/bot' {
  /** `state.user`. There are BotState, ConversationState, SessionState and TempState, too. */
  interface UserState {
    visits?: number
  }

  /** What `client.callAction` calls. */
  interface Actions extends ActionsOf<typeof actions> {}

  /** Events beside the platform's own, by their types, with their payloads. */
  interface Events {
    // orderShipped: { orderId: string }
  }
}

export const hooks: Hooks = {
  // Called with everything that somebody says to the bot.
  async afterIncomingMessage({ event, client, state, logger }) {
    state.user.visits = (state.user.visits ?? 0) + 1
    logger.info('Message', state.user.visits, 'of this user')
    const { output } = await client.callAction({ type: 'greet', input: { visits: state.user.visits } })
    await client.createMessage({
      conversationId: event.conversationId,
      type: 'text',
      payload: { text: `${output.text} You said: ${event.preview}` },
    })
  },
}

export const actions = {
  async greet({ input }: ActionContext<{ visits: number }>) {
    return { text: input.visits === 1 ? 'Hello!' : 'Welcome back.' }
  },
}
