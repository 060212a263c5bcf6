import { hostile } from '../hostile.ts'
import { spying } from '../spying.ts'

export default hostile({
  before: spying,
  body: `
    for (const object of [Object.prototype, [][Symbol.iterator]().__proto__, ''[Symbol.iterator]().__proto__, new Map()[Symbol.iterator]().__proto__, (function* () {}).prototype.__proto__]) spyOn(object)
    ;({}).toString()
    await work({ event, client, state, logger })
    await say(looks > 0)
    await say(caught)`,
  // The kernel has begun this event among what was replaced.
  later: `stopSpying(); await say(caught)`,
  outcome: 'done',
  replies: ['true', 'nothing'],
  laterReplies: ['nothing'],
})
