import { hostile } from '../hostile.ts'

export default hostile({
  body: `await Promise.all(Array.from({ length: 51 }, () => fetch('https://example.com/')))`,
  outcome: 'network',
  failure: /\b50 requests/,
})
