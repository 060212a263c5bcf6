import { hostile } from '../hostile.ts'

/** Each has the time of a request; the next ones wait for its place. */
export default hostile({
  sdk: true,
  body: `
    const tls = require('tls')
    const codes = await Promise.all(Array.from({ length: 6 }, () => new Promise((resolve) => {
      tls.connect(servers.deaf, '127.0.0.1').on('secureConnect', () => resolve('open')).on('error', ({ code }) => resolve(code))
    })))
    await say(codes.join())
    tls.connect(servers.deaf, '127.0.0.1').on('error', () => {})
    await new Promise((resolve) => setTimeout(resolve, 200))`,
  outcome: 'done',
  upload: { limits: { cpuMilliseconds: 5000, fetchesAtOnce: 3, fetchMilliseconds: 500 } },
  replies: ['ETIMEDOUT,ETIMEDOUT,ETIMEDOUT,ETIMEDOUT,ETIMEDOUT,ETIMEDOUT'],
})
