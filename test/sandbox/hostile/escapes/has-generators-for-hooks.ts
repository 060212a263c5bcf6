import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    let begun = 0
    exports.hooks = {
      *beforeIncomingMessage({ logger }) { begun += 1; try { yield logger.error('in a generator') } finally { logger.error('finally') } },
      afterIncomingMessage: [
        async function* ({ logger }) { begun += 1; yield logger.error('in an async generator') },
        ({ logger }) => ({ next() { logger.error('in next') }, return() { logger.error('in return') }, [Symbol.iterator]() { logger.error('iterated') }, [Symbol.asyncIterator]() { logger.error('iterated') } }),
        ({ logger }) => { logger.info('begun: %d', begun) },
      ],
    }`,
  outcome: 'done',
  logs: [/^info: begun: 0$/],
  never: /in a|iterated|finally/,
})
