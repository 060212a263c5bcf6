import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

export default hostile({
  body: `for (;;) { const controller = new AbortController(); fetch('https://example.com/', { signal: controller.signal }).catch(() => {}); controller.abort() }`,
  ...outOfTime,
})
