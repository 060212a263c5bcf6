import { hostile } from '../hostile.ts'

/** The owner of the state is known before the bot runs. */
export default hostile({
  body: `
    const { conversationId } = event
    const { neighbour: _, ...others } = { neighbour }
    Object.assign(event, { id: 'forged', botId: neighbour.botId, conversationId: neighbour.conversationId, userId: neighbour.userId, messageId: neighbour.messageId, type: 'forged', attempt: 99 })
    Object.assign(state.conversation, { id: neighbour.conversationId, bot_id: neighbour.botId, owner_id: neighbour.conversationId, own: 1 })
    state.user.own = 2
    state[neighbour.conversationId] = state.conversations = { [neighbour.conversationId]: { secret: 'forged' } }
    await client.createMessage({ conversationId, type: 'text', payload: { text: 'said' } })
    return { data: { ...event, state: { ...state, bot: { own: 3 } } } }`,
  later: `await say([state.conversation.own, state.user.own, state.bot.own, Object.keys(state).sort()].join())`,
  outcome: 'done',
  replies: ['said'],
  laterReplies: ['1,2,3,bot,conversation,session,temp,user'],
})
