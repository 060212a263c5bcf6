import { hostile } from '../hostile.ts'

/** The host knows which bot each request of the sandbox belongs to. */
export default hostile({
  sdk: true,
  body: `
    const { botId, conversationId, userId } = neighbour
    const headers = { 'x-bot-id': botId, 'x-user-key': userId, 'x-integration-id': 'chat', 'x-workspace-id': 'any', 'x-forwarded-for': '127.0.0.1', host: 'localhost', cookie: 'a=b' }
    const ends = []
    for (const path of ['/v1/chat/conversations/' + conversationId, '/v1/chat/users/' + userId, '/v1/chat/states/conversation/' + conversationId + '/state'])
      ends.push((await ask('GET', path, undefined, headers)).status)
    ends.push((await ask('POST', '/v1/chat/messages', { conversationId, type: 'text', payload: { text: 'forged' } }, headers)).status)
    await say(ends.join())
    await say((await ask('GET', '/v1/chat/users/' + event.userId, undefined, headers)).status)`,
  outcome: 'done',
  replies: ['404,404,404,400', '200'],
})
