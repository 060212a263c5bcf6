import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const attempts = [

      () => client.createMessage({ conversationId: neighbour.conversationId, type: 'text', payload: { text: 'intruder' } }),
      () => client.createMessage({ conversationId: event.conversationId, userId: neighbour.userId, type: 'text', payload: { text: 'intruder' } }),
      () => client.createMessage({ conversationId: event.conversationId, userId: neighbour.botId, type: 'text', payload: { text: 'intruder' } }),
      () => client.createEvent({ type: 'intrusion', conversationId: neighbour.conversationId, payload: {} }),
      () => client.createEvent({ type: 'intrusion', userId: neighbour.userId, payload: {} }),
      () => client.updateMessage({ id: neighbour.messageId, payload: { text: 'intruder' } }),
      () => client.addParticipant({ id: neighbour.conversationId, userId: event.userId }),
      () => client.addParticipant({ id: event.conversationId, userId: neighbour.userId }),
      () => client.callAction({ type: 'chat:publishMessageStream', input: { conversationId: neighbour.conversationId, signal: { type: 'delta', streamId: 's', createdAt: new Date().toISOString(), sequence: 0, delta: 'intruder' } } }),
      () => client.streamMessage(neighbour.conversationId).write('intruder'),
    ]
    const ends = []
    for (const attempt of attempts) ends.push(await attempt().then(() => 'done', (error) => error.type ?? error.code))
    await say(ends.join())
    await say(await (say('its own').then(({ message }) => message.payload.text === 'its own')))`,
  outcome: 'done',
  replies: [
    'ReferenceNotFound,ReferenceNotFound,ReferenceNotFound,ReferenceNotFound,ReferenceNotFound,ResourceNotFound,ResourceNotFound,ReferenceNotFound,ReferenceNotFound,ReferenceNotFound',
    'its own',
    'true',
  ],
})
