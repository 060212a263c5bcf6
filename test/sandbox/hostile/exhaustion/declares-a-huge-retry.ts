import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    export const hooks = {}
    export const retry = { attempts: 2, backoff: 'x'.repeat(2 ** 21) }`,
  outcome: 'refused',
  failure: /^bot\.ts:3:18: retry: backoff must be integer$/,
  ...withTime,
})
