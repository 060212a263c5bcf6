import { hostile } from '../hostile.ts'
import { spying } from '../spying.ts'

export default hostile({
  before: spying,
  body: `
    for (const index of ['0', '1', '2', '3'])
      Object.defineProperty(Array.prototype, index, { configurable: true, get() { look(this); return undefined }, set(value) { look(value); Object.defineProperty(this, index, { value, writable: true, configurable: true, enumerable: true }) } })
    const own = []
    own[0] = { limits: 'control' }
    const control = caught !== ''
    caught = ''
    await work({ event, client, state, logger })
    for (const index of ['0', '1', '2', '3']) delete Array.prototype[index]
    await say(control)
    await say(caught)`,
  outcome: 'done',
  replies: ['true', 'nothing'],
})
