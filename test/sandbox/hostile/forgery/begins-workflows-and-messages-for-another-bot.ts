import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const later = { delay: 3_600_000 }
    const ends = []
    for (const attempt of [
      () => client.createWorkflow({ name: 'forged', conversationId: neighbour.conversationId, status: 'pending' }),
      () => client.createWorkflow({ name: 'forged', userId: neighbour.userId, status: 'pending' }),
      () => client.createMessage({ conversationId: neighbour.conversationId, type: 'text', payload: { text: 'forged' }, schedule: later }),
      () => client.createEvent({ type: 'forged', conversationId: neighbour.conversationId, payload: {}, schedule: later }),
      () => client.createEvent({ type: 'forged', messageId: neighbour.messageId, payload: {} }),
      () => client.getOrCreateMessage({ conversationId: neighbour.conversationId, userId: event.userId, type: 'text', payload: { text: 'forged' }, tags: { a: 'b' } }),
    ]) ends.push(await attempt().then(() => 'done', (error) => error.type))
    await say([...new Set(ends)].join())`,
  outcome: 'done',
  replies: ['ReferenceNotFound'],
})
