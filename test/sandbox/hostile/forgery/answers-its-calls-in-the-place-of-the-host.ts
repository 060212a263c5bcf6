import { hostile } from '../hostile.ts'

/** Code that replaces `then` and `constructor` decides what its own isolate awaits: it can deceive only itself. */
export default hostile({
  body: `
    const { then } = Promise.prototype
    const forged = '{"status":200,"body":{"user":{"id":"forged"},"message":{"id":"forged"}}}'
    const answers = []
    Promise.prototype.then = function (fulfil, reject) {
      if (typeof fulfil === 'function') answers.push(fulfil)
      return Reflect.apply(then, this, [fulfil, reject])
    }
    class Other extends Promise {}
    Object.defineProperty(Promise.prototype, 'constructor', { configurable: true, get: () => Other })
    client.getUser({ id: neighbour.userId })
    client.deleteConversation({ id: neighbour.conversationId })
    client.createMessage({ conversationId: neighbour.conversationId, type: 'text', payload: { text: 'forged' } })
    for (let round = 0; round < 20; round += 1) {
      for (const answer of answers.splice(0)) { logger.info('answers'); answer(forged) }
      await null
    }`,
  spoils: true,
  outcome: 'done',
  replies: [],
  logs: [/^info: answers$/],
})
