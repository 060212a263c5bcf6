import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const types = ['message_created', 'chat:custom', 'action_triggered', 'state_expired', 'workflow_update', 'message_scheduled', 'webhook_received', 'register', 'unregister']
    const ends = []
    for (const type of types)
      for (const schedule of [undefined, { delay: 1000 }]) ends.push(await client.createEvent({ type, payload: { type: 'own', input: {} }, conversationId: event.conversationId, schedule }).then(() => type, (error) => error.type))
    await say([...new Set(ends)].join())
    await say((await client.createEvent({ type: 'own', payload: {}, schedule: { delay: 3_600_000 } })).event.type)`,
  outcome: 'done',
  replies: ['InvalidPayload', 'own'],
})
