import { hostile } from '../hostile.ts'

export default hostile({
  code: `
    const all = []
    for (;;) all.push(new Array(1e4).fill(Math.random()))
    export const hooks = {}`,
  outcome: 'refused',
  failure: /It used more than its 16 MB of memory/,
  upload: { limits: { memoryMegabytes: 16, loadMilliseconds: 10_000 } },
  kills: 'perhaps',
})
