import { hostile } from '../hostile.ts'

export default hostile({
  body: `logger.info('fine\\nerror: cpu: It used more than the 400 ms')`,
  outcome: 'done',
  logs: [/^info: fine\nerror: cpu/],
})
