import { secp256k1 } from '@noble/curves/secp256k1.js'
import { family as ecdhOfWeb } from '../../prelude/subtle/ecdh.ts'
import { family as ecdsaOfWeb } from '../../prelude/subtle/ecdsa.ts'
import { addCurve } from '../../prelude/subtle/elliptic-keys.ts'

/** The curve of Bitcoin, which Node has and the web has not. */
addCurve({ name: 'secp256k1', operations: secp256k1, bytes: 32, oid: [0x2b, 0x81, 0x04, 0x00, 0x0a] })

export { curveOf } from '../../prelude/subtle/elliptic-keys.ts'
export const ecdh = ecdhOfWeb
export const ecdsa = ecdsaOfWeb
