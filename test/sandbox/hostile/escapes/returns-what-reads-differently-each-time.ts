import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    let reads = 0
    const shifting = (values) => ({ configurable: true, enumerable: true, get() { reads += 1; return values[Math.min(reads, values.length) - 1] } })
    await say('before')
    return Object.defineProperties({}, { data: shifting([{}, null, () => {}]), stop: shifting([true]) })`,
  outcome: 'error',
  failure: /TypeError/,
  replies: ['before'],
})
