import { hostile } from '../hostile.ts'
import { spying } from '../spying.ts'

export default hostile({
  before: spying,
  body: `
    Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { look(this); return undefined } })
    await work({ event, client, state, logger })
    await {}
    delete Object.prototype.then
    await say(looks > 0)
    await say(caught)`,
  outcome: 'done',
  replies: ['true', 'nothing'],
})
