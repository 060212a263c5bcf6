import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    for (;;);
    export const hooks = {}`,
  outcome: 'refused',
  failure: /300 ms of processor time/,
  upload: { limits: { loadMilliseconds: 300 } },
})
