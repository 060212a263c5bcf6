import { hostile } from '../hostile.ts'

/** Requests of `http` count as those of `fetch`. */
export default hostile({
  sdk: true,
  body: `
    const http = require('http')
    for (;;) {
      await new Promise((resolve, reject) => {
        http.get('http://127.0.0.1:1/').on('error', (error) => (error.name === 'NetworkLimitError' ? reject(error) : resolve()))
      })
    }`,
  outcome: 'network',
  upload: { limits: { cpuMilliseconds: 5000, fetches: 5 } },
  failure: /An event may make at most 5 requests/,
})
