import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

/** Code that takes no notice of what `write` returns fills its own memory. */
export default hostile({
  sdk: true,
  body: `
    const socket = require('net').connect(servers.deaf, '127.0.0.1')
    await require('events').once(socket, 'connect')
    for (;;) {
      socket.write(Buffer.alloc(4_000_000))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }`,
  outcome: 'error',
  failure: /allocation failed/,
  ...withTime,
})
