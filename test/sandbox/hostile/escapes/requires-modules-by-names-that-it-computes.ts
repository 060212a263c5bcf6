import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    const load = require
    module.exports.hooks = {
      async afterIncomingMessage({ logger }) {
        for (const name of ['node:fs', 'child_process', 'isolated-vm', './kernel', '/etc/passwd', '__proto__', 'constructor', { toString: () => 'fs' }, Symbol('fs')]) {
          try { load(name); logger.warn('loaded') } catch (error) { logger.info('%s %s', error.constructor === Error || error.constructor === TypeError, error.message.slice(0, 18)) }
        }
        logger.info('%d %s', Object.keys(require.cache).length, typeof require.main)
        logger.info('%s', typeof module.constructor._load)
      },
    }`,
  outcome: 'done',
  logs: [/^info: true Cannot find module/, /^info: 0 undefined$/, /^info: undefined$/],
  never: /loaded/,
})
