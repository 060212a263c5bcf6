import { hostile } from '../hostile.ts'

export default hostile({
  code: `export const hooks = new Proxy({}, { ownKeys() { for (;;); } })`,
  outcome: 'refused',
  failure: /150 ms of processor time/,
  upload: { limits: { cpuMilliseconds: 150 } },
})
