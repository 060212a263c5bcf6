import { hostile } from '../hostile.ts'
import { reach } from '../reach.ts'

/** Answers are objects of the bot's own realm, and nothing is shared between two of them. */
export default hostile({
  before: reach,
  body: `
    const ask = async () => [await client.getUser({ id: event.userId }), await client.listMessages({ conversationId: event.conversationId }), await client.getOrSetState({ type: 'user', id: event.userId, name: 'x', payload: { a: [{}] } })]
    const [first, second] = [await ask(), await ask()]
    const seen = new Set()
    const foreign = []
    reach({ first }, (value, path) => seen.add(value))
    reach({ second }, (value, path) => {
      const plain = [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value))
      if (plain && seen.has(value) && !path.includes('__proto__') && !path.includes('constructor')) foreign.push(path)
      if (typeof value === 'object' && typeof value.constructor === 'function' && value.constructor.constructor('return typeof process')() !== 'undefined') foreign.push(path)
    })
    await say(foreign.slice(0, 5).join())
    await say(seen.size > 100)
    first[0].user.id = 'changed'
    await say((await client.getUser({ id: event.userId })).user.id === event.userId)`,
  outcome: 'done',
  replies: ['nothing', 'true', 'true'],
})
