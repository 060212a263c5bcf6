import { hostile } from '../hostile.ts'

/** Frames of a stack that are not those of the bundle are nobody's business. */
export default hostile({
  body: String.raw`
    const error = new TypeError('forged')
    error.stack = 'TypeError: forged\n    at ProcessSandbox.receive (/app/sandbox/process/sandbox.ts:1:1)\n    at node' + ':internal/main/run_main_module:1:1\n    at kernel:1:1\n    at hidden (bot.js:1:1)'
    throw error`,
  outcome: 'error',
  failure: /TypeError: forged/,
  replies: [],
  never: /ProcessSandbox|\/app\/|run_main_module|at kernel/,
})
