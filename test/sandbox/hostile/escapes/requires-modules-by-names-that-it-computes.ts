import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    const load = require
    module.exports.hooks = {
      async afterIncomingMessage({ logger }) {
        for (const name of ['isolated-vm', './kernel', '/etc/passwd', '__proto__', 'constructor', { toString: () => 'node:sqlite' }, Symbol('fs')]) {
          try { load(name); logger.warn('loaded') } catch (error) { logger.info('%s %s', error.constructor === Error || error.constructor === TypeError, error.message.slice(0, 18)) }
        }
        // They load, because the call above names one of them.
        const uses = [
          () => load('node:fs').readFileSync('/etc/passwd'),
          () => load('child_process').execSync('id'),
          () => new (load('worker_threads').Worker)('1', { eval: true }),
          () => load('vm').runInThisContext('1'),
          () => load('module').createRequire('/')('fs').readFileSync('/etc/passwd'),
          () => load('module').createRequire('/')('/etc/passwd'),
          () => load('process').binding('fs'),
          () => load('process').dlopen({}, '/lib/libc.so.6'),
        ]
        for (const use of uses) {
          try { logger.warn('reached %s', use()) } catch (error) { logger.info('refused: %s', error.message) }
        }
        logger.info('%d %s', Object.keys(require.cache).length, typeof require.main)
        logger.info('%s', typeof module.constructor._load)
      },
    }`,
  outcome: 'done',
  logs: [
    /^info: true Cannot find module/,
    /^info: refused: ENOENT/,
    /^info: refused: child_process.execSync is not available here/,
    /^info: refused: process.dlopen is not available here/,
    /^info: 0 undefined$/,
    /^info: undefined$/,
  ],
  never: /loaded|reached/,
})
