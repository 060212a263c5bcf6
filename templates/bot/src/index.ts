import type { ActionContext, ActionsOf, Hooks } from 'isobot/bot'

/** The types of the bot's state, actions and events, for completion in the editor. */
declare module 'isobot/bot' {
  /** `state.user`. There are BotState, ConversationState, SessionState and TempState, too. */
  interface UserState {
    visits?: number
  }

  /** Actions, which `client.callAction` calls. */
  interface Actions extends ActionsOf<typeof actions> {}

  /** Events beside the platform's own, by their types, with their payloads. */
  interface Events {
    // orderShipped: { orderId: string }
  }
}

export const hooks: Hooks = {
  // Called with each message of a user.
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
