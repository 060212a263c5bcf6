import { hostile } from '../hostile.ts'

/** Comments as HTML has them, and the end of a line that only some take for one. */
export default hostile({
  body:
    String.raw`
    const seen = []
    seen.push(1) //\u2028 }); seen.push('outside') ; (function () {
    /* }); ` +
    '`' +
    String.raw` */ seen.push(2) // });0
    await say(seen.join() + typeof defineBundle)`,
  before: `// }); globalThis.outside = true; (function () {\u2028`,
  outcome: 'done',
  replies: ['1,2undefined'],
})
