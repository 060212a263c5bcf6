import { hostile } from '../hostile.ts'

/** isolated-vm reads options such as these from plain objects. */
export default hostile({
  body: `
    for (const name of ['reference', 'copy', 'externalCopy', 'promise', 'result', 'arguments', 'timeout', 'release', 'unsafeInherit', 'ignored', 'async', 'sync', 'filename', 'inspector'])
      Object.prototype[name] = { reference: true, copy: true, externalCopy: true, promise: true, timeout: 1 }
    const { user } = await client.getUser({ id: event.userId })
    await say(Object.hasOwn(user, 'id') && typeof user.id)`,
  outcome: 'done',
  replies: ['string'],
})
