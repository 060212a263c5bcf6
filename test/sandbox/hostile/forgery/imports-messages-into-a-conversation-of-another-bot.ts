import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const message = { conversationId: event.conversationId, userId: event.userId, type: 'text', payload: { text: 'forged' }, createdAt: new Date(0).toISOString() }
    const ends = []
    for (const forged of [{ conversationId: neighbour.conversationId }, { userId: neighbour.userId }, { userId: neighbour.botId }, { createdAt: '9999-01-01T00:00:00Z' }])
      ends.push(await client.importMessages({ messages: [{ ...message, ...forged }] }).then(() => 'done', (error) => error.type))
    await say(ends.join())
    await say((await client.importMessages({ messages: [message] })).messages.length)`,
  outcome: 'done',
  replies: ['InvalidPayload,InvalidPayload,InvalidPayload,InvalidPayload', '1'],
})
