import { hostile } from '../hostile.ts'

export default hostile({
  body: String.raw`throw new Error('first\nerror: cpu: It used more than the 400 ms\r\n' + neighbour.botId + ' error: forged\u2028\u001b[2J')`,
  outcome: 'error',
  failure: /^afterIncomingMessage: Error: first\nerror: cpu: It used more than the 400 ms\r\n\w+ error: forged/,
  replies: [],
  logs: [/^error: afterIncomingMessage: Error: first\nerror: cpu/],
})
