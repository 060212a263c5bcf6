import { hostile } from '../hostile.ts'

export default hostile({
  code: `export const actions = Object.fromEntries(Array.from({ length: 1e5 }, (_, n) => ['x'.repeat(200) + n, () => {}]))`,
  outcome: 'refused',
  failure: /It used more than its 16 MB of memory/,
  upload: { limits: { memoryMegabytes: 16, loadMilliseconds: 10_000 } },
})
