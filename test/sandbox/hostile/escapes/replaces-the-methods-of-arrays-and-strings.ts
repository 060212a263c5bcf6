import { hostile } from '../hostile.ts'
import { spying } from '../spying.ts'

export default hostile({
  before: spying,
  body: `
    for (const { prototype } of [Array, String, Number, RegExp, Date, Error, Object.getPrototypeOf(Int8Array)]) spyOn(prototype)
    ;[].push(1)
    await work({ event, client, state, logger })
    await say(looks > 0)
    await say(caught)`,
  // The kernel has begun this event among what was replaced.
  later: `stopSpying(); await say(caught)`,
  outcome: 'done',
  replies: ['true', 'nothing'],
  laterReplies: ['nothing'],
})
