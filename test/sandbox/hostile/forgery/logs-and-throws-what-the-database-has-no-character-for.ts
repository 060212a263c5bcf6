import { hostile } from '../hostile.ts'

/** The lines of many bots are written by one statement. */
export default hostile({
  body: String.raw`
    logger.info('zero \u0000 and half \ud800')
    console.log({ '\u0000': '\udfff' })
    await say('logged')
    throw Object.assign(new Error('\u0000\ud800 thrown'), { name: '\udc00\u0000' })`,
  outcome: 'error',
  failure: /^afterIncomingMessage: \uFFFD\uFFFD: \uFFFD\uFFFD thrown/,
  replies: ['logged'],
  logs: [/^info: zero \uFFFD and half \uFFFD/, /^error: afterIncomingMessage/],
})
