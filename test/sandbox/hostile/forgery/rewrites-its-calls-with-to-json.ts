import { hostile } from '../hostile.ts'

/** Every object has this method now, those of which the kernel makes requests included. */
export default hostile({
  body: `
    const asked = []
    Object.prototype.toJSON = function () {
      asked.push(Object.keys(this).join())
      return { method: 'DELETE', path: '/v1/admin/bots/' + neighbour.botId, operation: 'deleteBot', id: neighbour.botId, body: 'none', status: 200 }
    }
    BigInt.prototype.toJSON = Array.prototype.toJSON = Function.prototype.toJSON = Object.prototype.toJSON
    const ends = []
    for (const name of ['createMessage', 'getUser', 'deleteUser', 'deleteConversation', 'updateMessage', 'listMessages', 'callAction'])
      ends.push(await client[name]({ id: event.userId }).then(() => name, (error) => error.type ?? error.name))
    delete Object.prototype.toJSON
    delete Array.prototype.toJSON
    delete Function.prototype.toJSON
    delete BigInt.prototype.toJSON
    await say(ends.join())
    await say(asked.length >= 7)`,
  outcome: 'done',
  replies: [
    'InvalidPayload,ResourceNotFound,ResourceNotFound,ResourceNotFound,ResourceNotFound,listMessages,InvalidPayload',
    'true',
  ],
})
