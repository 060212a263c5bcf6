import { hostile } from '../hostile.ts'
import { spying } from '../spying.ts'

export default hostile({
  before: spying,
  body: `
    for (const object of [Object, JSON, Number, String, Symbol, Array, Promise, Math]) spyOn(object)
    JSON.stringify(1)
    await work({ event, client, state, logger })
    await say(looks > 0)
    await say(caught)`,
  // The kernel has begun this event among what was replaced.
  later: `stopSpying(); await say(caught)`,
  outcome: 'done',
  replies: ['true', 'nothing'],
  laterReplies: ['nothing'],
})
