import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const attempts = [

      () => client.getConversation({ id: neighbour.conversationId }),
      () => client.getMessage({ id: neighbour.messageId }),
      () => client.getUser({ id: neighbour.userId }),
      () => client.getUser({ id: neighbour.botId }),
      () => client.listParticipants({ id: neighbour.conversationId }),
      () => client.getParticipant({ id: neighbour.conversationId, userId: neighbour.userId }),
      () => client.getState({ type: 'conversation', id: neighbour.conversationId, name: 'state' }),
      () => client.getState({ type: 'user', id: neighbour.userId, name: 'state' }),
      () => client.getState({ type: 'bot', id: neighbour.botId, name: 'state' }),
    ]
    const ends = []
    for (const attempt of attempts) ends.push(await attempt().then(() => 'done', (error) => error.type ?? error.code))
    await say(ends.join())
    await say(await (client.getConversation({ id: event.conversationId }).then(({ conversation }) => conversation.id === event.conversationId)))`,
  outcome: 'done',
  replies: [
    'ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound',
    'true',
  ],
})
