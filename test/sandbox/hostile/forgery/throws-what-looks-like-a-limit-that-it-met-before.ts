import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    let met
    for (let count = 0; !met; count += 1) await client.getUser({ id: 'x'.repeat(3_000_000) }).catch((error) => { met = error })
    const { name, message, stack } = met
    throw Object.assign(Object.create(met), { name, message, stack })`,
  outcome: 'error',
  failure: /^afterIncomingMessage: HostCallSizeError: /,
  replies: [],
})
