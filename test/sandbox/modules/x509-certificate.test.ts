import { describe } from 'vitest'
import { sandboxOfFile, testAsInNode } from '../prelude/compare.ts'
import { authority, leaf, root } from './certificate-chain.ts'
import { certificate } from './certificate.ts'
import { cert, key } from './server-certificate.ts'

const sandbox = sandboxOfFile()

const source = (value: unknown) => JSON.stringify(value)
const helpers = `const { X509Certificate, createPrivateKey, createPublicKey } = require('crypto')
const [root, authority, leaf, own] = ${source([root, authority, leaf, certificate])}.map((text) => new X509Certificate(text))
const failed = (work) => { try { return work() } catch (error) { return [error.name, error.code] } }
`

describe('certificates are read as in Node', () => {
  testAsInNode(
    sandbox,
    [
      [
        'their names, times, numbers and extensions',
        `${helpers}return [root, authority, leaf, own].map((one) => [one.subject, one.issuer, one.subjectAltName, one.infoAccess, one.keyUsage, one.ca, one.serialNumber, one.validFrom, one.validTo, one.validFromDate.toISOString(), one.validToDate.getTime(), one.fingerprint, one.fingerprint256, one.fingerprint512])`,
      ],
      [
        'their keys and forms',
        `${helpers}const again = new X509Certificate(leaf.raw); return [leaf.toString(), JSON.stringify(again), again.raw.toString('hex'), ...[root, authority, leaf].map(({ publicKey }) => [publicKey.type, publicKey.asymmetricKeyType, publicKey.export({ type: 'spki', format: 'pem' })])]`,
      ],
      [
        'the chain that they make',
        `${helpers}return [leaf, authority, root].map((one) => [leaf, authority, root].map((other) => [one.verify(other.publicKey), one.checkIssued(other)]))`,
      ],
      [
        'a changed certificate',
        `${helpers}const raw = Buffer.from(leaf.raw); const at = raw.indexOf('a.example'); raw[at] = 'b'.charCodeAt(0); const changed = new X509Certificate(raw); return [changed.subject, changed.verify(authority.publicKey)]`,
      ],
      [
        'private keys that belong to them',
        `${helpers}const one = new X509Certificate(${source(cert)}); const key = createPrivateKey(${source(key)}); return [one.checkPrivateKey(key), leaf.checkPrivateKey(key), failed(() => one.checkPrivateKey(createPublicKey(key))) !== true]`,
      ],
      [
        'what is none',
        `${helpers}return [failed(() => new X509Certificate()), failed(() => new X509Certificate(5)), failed(() => new X509Certificate('no certificate'))[0], failed(() => new X509Certificate(leaf.raw.subarray(0, 300)))[0], failed(() => leaf.verify('key')), failed(() => leaf.checkIssued({}))]`,
      ],
    ],
    'sdk',
  )
})
