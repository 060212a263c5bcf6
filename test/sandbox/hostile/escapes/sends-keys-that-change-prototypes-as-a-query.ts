import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const query = (text) => client.listMessages(JSON.parse(text)).then(() => 'listed', (error) => error.code ?? error.name)
    await say([await query('{"__proto__":{"conversationId":"x"}}'), await query('{"__proto__.polluted":"1"}'), await query('{"constructor.prototype.polluted":"1"}'), await query('{"tags":{"__proto__":"1"}}'), await query('{"conversationId":{"__proto__":"1"}}')].every((code) => code === 400 || code === 'listed'))
    const { conversation } = await client.getConversation({ id: event.conversationId })
    await say([conversation, conversation.tags, {}].some((value) => 'polluted' in value))`,
  outcome: 'done',
  replies: ['true', 'false'],
})
