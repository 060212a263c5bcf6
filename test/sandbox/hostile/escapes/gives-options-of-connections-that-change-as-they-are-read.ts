import { hostile } from '../hostile.ts'

/** The worker checks the options that it receives, which the code cannot change any more. */
export default hostile({
  sdk: true,
  body: `
    const net = require('net'), tls = require('tls')
    const outcome = (make) => new Promise((resolve) => {
      try { make().on('error', ({ code, name }) => resolve(code ?? name)).on('connect', () => resolve('connected')) } catch (error) { resolve(error?.code ?? error?.name ?? String(error)) }
    })
    const [own] = servers.own
    const changing = (...values) => ({ enumerable: true, get: () => (values.length > 1 ? values.shift() : values[0]) })
    const options = (fields) => Object.defineProperties({ host: '127.0.0.1', port: servers.echo }, fields)
    const text = (...values) => ({ toString: () => (values.length > 1 ? values.shift() : values[0]) })
    const throwing = new Proxy({}, { get() { throw 'a trap' }, ownKeys() { throw 'a trap' } })
    const seen = []
    for (const make of [
      () => net.connect(options({ port: changing(servers.echo, own) })),
      () => net.connect(options({ port: { enumerable: true, value: text(servers.echo, servers.echo, own, own) } })),
      () => net.connect(options({ host: { enumerable: true, value: text('127.0.0.1', '::1') } })),
      () => net.connect(options({ host: { enumerable: true, value: '127.0.0.1:' + own + '@127.0.0.1' } })),
      () => net.connect(options({ host: { enumerable: true, value: '127.0.0.1\\\\' } })),
      () => net.connect(throwing),
      () => tls.connect(throwing),
      () => tls.connect(options({ ca: { enumerable: true, value: Array(1e6).fill('x') } })),
      () => tls.connect(options({ ca: { enumerable: true, value: throwing } })),
      () => tls.connect(options({ servername: { enumerable: true, value: 'x'.repeat(1e6) } })),
      () => tls.connect(options({ ciphers: { enumerable: true, value: 'x'.repeat(5000) } })),
      () => tls.connect(options({ ciphers: { enumerable: true, value: '\\0@SECLEVEL=0' }, minVersion: { enumerable: true, value: '__proto__' } })),
    ]) seen.push(await outcome(make))
    const wide = {}
    for (let index = 0; index < 50_000; index++) wide['option' + index] = index
    seen.push(await outcome(() => net.connect({ ...wide, host: '127.0.0.1', port: servers.echo })))
    await say(seen.join())`,
  outcome: 'done',
  upload: { limits: { cpuMilliseconds: 10_000, memoryMegabytes: 128 } },
  replies: [
    'EACCES,connected,ERR_INVALID_ARG_TYPE,EINVAL,EINVAL,a trap,a trap,ERR_OUT_OF_RANGE,ERR_INVALID_ARG_TYPE,EINVAL,EINVAL,ERR_TLS_INVALID_PROTOCOL_VERSION,connected',
  ],
})
