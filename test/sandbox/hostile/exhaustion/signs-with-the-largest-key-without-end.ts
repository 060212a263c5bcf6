import { outOfTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

/** A larger key is refused. The key is in the isolate, and so is the work. */
export default hostile({
  sdk: true,
  body: `
    const crypto = require('crypto')
    const [n, d] = [0xab, 0xaa].map((octet) => Buffer.alloc(2048, octet).toString('base64url'))
    const key = crypto.createPrivateKey({ key: { kty: 'RSA', n, e: 'AQAB', d }, format: 'jwk' })
    for (;;) crypto.sign('sha256', Buffer.from('x'), key)`,
  ...outOfTime,
  replies: [],
})
