import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const attempts = [

      () => client.deleteMessage({ id: neighbour.messageId }),
      () => client.deleteConversation({ id: neighbour.conversationId }),
      () => client.deleteUser({ id: neighbour.userId }),
      () => client.removeParticipant({ id: neighbour.conversationId, userId: neighbour.userId }),
      () => client.updateConversation({ id: neighbour.conversationId, tags: {} }),
      () => client.updateUser({ id: neighbour.userId, name: 'intruder' }),
      () => client.setState({ type: 'conversation', id: neighbour.conversationId, name: 'state', payload: {} }),
      () => client.patchState({ type: 'user', id: neighbour.userId, name: 'state', payload: { intruder: true } }),
      () => client.setState({ type: 'bot', id: neighbour.botId, name: 'state', payload: {} }),
      () => client.setStateExpiry({ type: 'conversation', id: neighbour.conversationId, name: 'state', expiry: 1000 }),
      () => client.getOrSetState({ type: 'conversation', id: neighbour.conversationId, name: 'state', payload: {} }),
    ]
    const ends = []
    for (const attempt of attempts) ends.push(await attempt().then(() => 'done', (error) => error.type ?? error.code))
    await say(ends.join())
    await say(await (client.updateUser({ id: event.userId, name: 'own' }).then(({ user }) => user.name === 'own')))`,
  outcome: 'done',
  replies: [
    'ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound',
    'true',
  ],
})
