import { hostile } from '../hostile.ts'

/** The caller is known without its input, and unexpected fields are not read. */
export default hostile({
  body: `
    const { botId, conversationId, userId, messageId } = neighbour
    const others = [{ botId }, { bot_id: botId }, { 'x-bot-id': botId }, { headers: { 'x-bot-id': botId } }, { caller: { kind: 'admin' } }, { workspaceId: 'x' }, { integrationId: 'x' }, { direction: 'incoming' }, { execution: {} }, { id: messageId }, { createdAt: new Date(0) }]
    const ends = new Set()
    for (const other of others) {
      const { message } = await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'said' }, ...other })
      ends.add([message.direction, message.userId === event.botId, message.id === messageId, message.createdAt < event.createdOn.toISOString()].join())
      const { users } = await client.listUsers(other)
      const { messages } = await client.listMessages(other)
      const { conversations } = await client.listConversations(other)
      ends.add([...users, ...messages, ...conversations].some((row) => [row.id, row.conversationId, row.userId].some((id) => [conversationId, userId, messageId].includes(id))))
    }
    await say([...ends].join(' | '))`,
  outcome: 'done',
  replies: [...Array<string>(11).fill('said'), 'outgoing,true,false,false | false'],
})
