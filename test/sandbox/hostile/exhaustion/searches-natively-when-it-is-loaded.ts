import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    new Array(2 ** 32 - 2).indexOf(1)
    export const hooks = {}`,
  outcome: 'refused',
  failure: /300 ms of processor time/,
  upload: { limits: { loadMilliseconds: 300 } },
  kills: true,
})
