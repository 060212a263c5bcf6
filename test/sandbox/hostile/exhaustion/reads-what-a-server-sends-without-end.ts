import { hostile } from '../hostile.ts'

/** Each connection ends at the size of a response, and is a request. */
export default hostile({
  sdk: true,
  body: `
    const net = require('net')
    const codes = new Set()
    for (;;) {
      const socket = net.connect(servers.flooding, '127.0.0.1').resume()
      const error = await new Promise((resolve) => socket.on('error', resolve))
      if (codes.size === 0) await say(error.code + (socket.bytesRead <= 2 ** 20))
      codes.add(error.code)
      if (error.name === 'NetworkLimitError') throw error
    }`,
  outcome: 'network',
  upload: { limits: { cpuMilliseconds: 10_000, fetches: 8, fetchMegabytes: 1 } },
  failure: /An event may make at most 8 requests/,
  replies: ['ECONNRESETtrue'],
})
