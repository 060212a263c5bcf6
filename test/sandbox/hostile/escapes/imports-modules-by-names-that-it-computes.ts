import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    for (const name of ['node:fs', 'fs', 'process', './bot.js', 'file:///etc/passwd', '/etc/passwd', 'data:text/javascript,export default 1', 'isolated-vm']) {
      try { await import(name.slice(0)); await say('imported ' + name) } catch (error) { await say(error instanceof Error && error.constructor === globalThis[error.name]) }
    }`,
  outcome: 'done',
  replies: ['true', 'true', 'true', 'true', 'true', 'true', 'true', 'true'],
})
