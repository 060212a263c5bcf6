import { hostile } from '../hostile.ts'

/** Each is a request, also one that was never open. */
export default hostile({
  sdk: true,
  body: `
    const net = require('net')
    for (;;) {
      await new Promise((resolve, reject) => {
        const socket = net.connect(servers.deaf, '127.0.0.1')
        socket.on('error', reject).on('close', resolve)
        if (Math.random() < 0.5) socket.destroy()
        else socket.on('connect', () => socket.write(Buffer.alloc(100_000)) && socket.destroy()), setTimeout(() => socket.destroy(), 10)
      })
    }`,
  outcome: 'network',
  upload: { limits: { cpuMilliseconds: 10_000, fetches: 60 } },
  failure: /An event may make at most 60 requests/,
})
