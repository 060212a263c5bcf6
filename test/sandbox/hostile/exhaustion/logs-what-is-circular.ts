import { hostile } from '../hostile.ts'

export default hostile({
  body: `const own = {}; own.own = own; own.map = new Map([[own, own]]); logger.info(own); logger.info('%j', own)`,
  outcome: 'done',
  logs: [/Circular/, /Circular/],
})
