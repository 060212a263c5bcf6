import { hostile } from '../hostile.ts'

/** The first of them are open until the event is over, and the others are refused without a request. */
export default hostile({
  sdk: true,
  body: `
    const net = require('net')
    const errors = {}
    let open = 0
    const all = Array.from({ length: 3000 }, () => new Promise((resolve) => {
      const socket = net.connect(servers.echo, '127.0.0.1')
      socket.on('connect', () => resolve(open++))
      socket.on('error', ({ code }) => resolve((errors[code] = (errors[code] ?? 0) + 1)))
    }))
    await Promise.all(all)
    await say(open + JSON.stringify(errors))`,
  outcome: 'done',
  upload: { limits: { cpuMilliseconds: 10_000, memoryMegabytes: 128, connectionsAtOnce: 3, fetches: 10 } },
  replies: ['3{"EMFILE":2997}'],
})
