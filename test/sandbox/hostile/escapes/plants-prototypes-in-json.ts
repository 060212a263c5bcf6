import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const planted = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"kept":1}')
    state.user.own = planted
    Object.defineProperty(state.conversation, '__proto__', { value: { polluted: 1 }, enumerable: true })
    event.state.bot = JSON.parse('{"__proto__":{"polluted":1},"kept":1}')
    const { message } = await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'planted', metadata: planted } })
    await say([message, message.payload, {}, [], state].some((value) => 'polluted' in value))`,
  later: `
          const { messages } = await client.listMessages({ conversationId: event.conversationId })
          await say([event, state, state.user, state.user.own, state.conversation, state.bot, ...messages, ...messages.map(({ payload }) => payload), {}, []].some((value) => 'polluted' in value))
          await say(state.user.own.kept + state.bot.kept)`,
  outcome: 'done',
  replies: ['planted', 'false'],
  laterReplies: ['false', '2'],
})
