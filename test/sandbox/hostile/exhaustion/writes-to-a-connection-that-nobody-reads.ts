import { hostile } from '../hostile.ts'

/** The written bytes wait in the isolate until the time limit of the event. */
export default hostile({
  sdk: true,
  body: `
    const net = require('net')
    const { once } = require('events')
    for (let count = 0; count < 4; count++) {
      const socket = net.connect(servers.deaf, '127.0.0.1')
      await once(socket, 'connect')
      const write = () => { while (socket.write(Buffer.alloc(65536))); }
      socket.on('drain', write)
      write()
    }
    await say('written')
    await new Promise(() => {})`,
  outcome: 'timeout',
  upload: { limits: { cpuMilliseconds: 10_000, wallMilliseconds: 4000 } },
  failure: /4000 ms/,
  replies: ['written'],
})
