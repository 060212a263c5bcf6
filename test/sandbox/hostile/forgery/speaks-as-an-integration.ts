import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const ends = []
    for (const attempt of [
      () => client.initializeIncomingMessage({ userId: event.userId, conversationId: event.conversationId, message: { type: 'text', payload: { text: 'forged' } } }),
      () => client.initializeIncomingMessage({ userId: neighbour.userId, conversationId: neighbour.conversationId, message: { type: 'text', payload: { text: 'forged' } } }),
      () => client.configureIntegration({ identifier: neighbour.botId }),
    ]) ends.push(await attempt().then(() => 'done', (error) => error.type ?? error.name))
    await say(ends.join())
    await say(typeof client.initializeIncomingMessage)`,
  outcome: 'done',
  replies: ['Forbidden,Forbidden,InvalidPayload', 'function'],
})
