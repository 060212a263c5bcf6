import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

/** The key is in the isolate, and so is the work. */
export default hostile({
  sdk: true,
  body: `
    const crypto = require('crypto')
    const member = Buffer.alloc(125_000, 0xab).toString('base64url')
    const key = crypto.createPrivateKey({ key: { kty: 'RSA', n: member, e: 'AQAB', d: member }, format: 'jwk' })
    crypto.sign('sha256', Buffer.from('x'), key)
    await say('signed')`,
  ...outOfTime,
  replies: [],
})
