import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) await fetch('https://example.com/').catch(() => {})`,
  ...outOfTime,
  // It waits for a refusal each time, so that on a busy machine it takes long to use up its processor time.
  upload: { limits: { cpuMilliseconds: 150 } },
})
