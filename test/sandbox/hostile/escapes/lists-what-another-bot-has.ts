import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const attempts = [

      async () => { const { messages } = await client.listMessages({ conversationId: neighbour.conversationId }); if (messages.length === 0) throw { type: 'nothing' } },
      async () => { const { events } = await client.listEvents({ conversationId: neighbour.conversationId }); if (events.length === 0) throw { type: 'nothing' } },
      async () => { const { conversations } = await client.listConversations({}); if (!conversations.some(({ id }) => id === neighbour.conversationId)) throw { type: 'nothing' } },
      async () => { const { users } = await client.listUsers({}); if (!users.some(({ id }) => id === neighbour.userId)) throw { type: 'nothing' } },
      async () => { const { users } = await client.listUsers({ conversationId: neighbour.conversationId }); if (users.length === 0) throw { type: 'nothing' } },
    ]
    const ends = []
    for (const attempt of attempts) ends.push(await attempt().then(() => 'done', (error) => error.type ?? error.code))
    await say(ends.join())
    await say(await (client.listMessages({ conversationId: event.conversationId }).then(({ messages }) => messages.length > 0)))`,
  outcome: 'done',
  replies: ['nothing,nothing,nothing,nothing,nothing', 'true'],
})
