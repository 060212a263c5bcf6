import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const tags = [{ id: neighbour.conversationId }, { 'chat:id': neighbour.conversationId }, { bot_id: neighbour.botId }, { 'chat:userId': neighbour.userId }]
    const found = []
    for (const own of tags) {
      const { conversation } = await client.getOrCreateConversation({ channel: 'channel', tags: own })
      const { user } = await client.getOrCreateUser({ tags: own })
      const { conversations } = await client.listConversations({ tags: own })
      const { users } = await client.listUsers({ tags: own })
      found.push(conversation.id, user.id, ...conversations.map(({ id }) => id), ...users.map(({ id }) => id))
    }
    await say(found.some((id) => [neighbour.conversationId, neighbour.userId, neighbour.botId].includes(id)))
    await say(found.length)`,
  outcome: 'done',
  replies: ['false', '16'],
})
