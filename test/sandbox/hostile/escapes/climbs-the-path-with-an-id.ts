import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`
    const ids = ['..', '.', '../..', '../../admin/bots', '..%2f..%2fadmin%2fbots', '%2e%2e', '%2e%2e%2fadmin', 'x/../../y', '/', '//', 'x/messages', 'x?bot=1', 'x#y', '\\..\\admin', '\u2025', '\uff0e\uff0e', ';', 'x;y=1', 'x\r\nx-bot-id: y', '\ud83d\ude00', '%', '%zz', '%00', neighbour.userId, neighbour.userId + '/', './' + neighbour.userId, '{id}', '*', '__proto__', 'constructor']
    const codes = new Set()
    const asks = [client.getUser, client.getMessage, client.getConversation, client.deleteConversation, client.getEvent]
    await Promise.all(ids.flatMap((id) => asks.map((ask) => ask({ id }).then(() => codes.add('found ' + id), (error) => codes.add(error.code)))))
    await say([...codes].sort().join())
    await say((await client.getUser({ id: event.userId })).user.id === event.userId)`,
  outcome: 'done',
  replies: ['404', 'true'],
})
