import {
  constants,
  createDecipheriv,
  generateKeyPairSync,
  privateDecrypt,
  publicEncrypt,
  sign,
  verify,
} from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { scriptsFor } from '#sandbox/modules/table.ts'
import { callRun, done, handlerThat } from '../fixture.ts'
import { sandboxOfFile, testAsInNode, type Case } from '../prelude/compare.ts'

/** Encryption, agreements and new keys in Node's `crypto`. */

const sandbox = sandboxOfFile()

/** The result of a handler with this body, through JSON. */
async function told(body: string): Promise<unknown> {
  const code = `const crypto = require('crypto'); const value = await (async () => { ${body} })(); return { body: JSON.stringify({ value }) }`
  const run = callRun(handlerThat(code), {}, { limits: { cpuMilliseconds: 15_000, wallMilliseconds: 60_000 } })
  return (JSON.parse((done(await sandbox().run(run)).result as { body: string }).body) as { value?: unknown }).value
}

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const openPem = publicKey.export({ type: 'spki', format: 'pem' }) as string
const encrypted = (type: 'pkcs1' | 'pkcs8', cipher: string) =>
  privateKey.export({ type, format: 'pem', cipher, passphrase: 'word' }) as string

const source = (value: unknown) => JSON.stringify(value)

describe('an endpoint of WhatsApp Flows', () => {
  test('decrypts its request with a key that has a passphrase, and answers with the flipped vector', async () => {
    const [aesKey, iv] = [Buffer.alloc(16, 7), Buffer.alloc(16, 9)]
    const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }
    const wrapped = publicEncrypt({ key: publicKey, ...oaep }, aesKey).toString('base64')
    const answer = (await told(`
      const key = crypto.createPrivateKey({ key: ${source(encrypted('pkcs1', 'des-ede3-cbc'))}, passphrase: 'word' })
      const padding = crypto.constants.RSA_PKCS1_OAEP_PADDING
      const aesKey = crypto.privateDecrypt({ key, padding, oaepHash: 'sha256' }, Buffer.from('${wrapped}', 'base64'))
      const flipped = Buffer.from('${iv.toString('hex')}', 'hex').map((octet) => ~octet)
      const cipher = crypto.createCipheriv('aes-128-gcm', aesKey, flipped)
      return Buffer.concat([cipher.update('{"screen":"ONE"}', 'utf-8'), cipher.final(), cipher.getAuthTag()]).toString('base64')`)) as string
    const bytes = Buffer.from(answer, 'base64')
    const decipher = createDecipheriv('aes-128-gcm', aesKey, Buffer.from(iv.map((octet) => ~octet)))
    decipher.setAuthTag(bytes.subarray(-16))
    expect(Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString()).toBe(
      '{"screen":"ONE"}',
    )
  })
})

describe('with RSA', () => {
  test.each([{ oaepHash: 'sha1' }, { oaepHash: 'sha256' }, { oaepHash: 'sha512', oaepLabel: Buffer.from('label') }])(
    '$oaepHash encrypts as in Node, both ways',
    async (options) => {
      const given = publicEncrypt({ key: publicKey, ...options }, Buffer.from('ours')).toString('base64')
      const label = options.oaepLabel ? `, oaepLabel: Buffer.from('label')` : ''
      const [text, sealed] = (await told(`
      const options = { oaepHash: '${options.oaepHash}'${label} }
      const sealed = crypto.publicEncrypt({ key: ${source(openPem)}, ...options }, Buffer.from('theirs'))
      return [crypto.privateDecrypt({ key: ${source(pem)}, ...options }, Buffer.from('${given}', 'base64')).toString(), sealed.toString('base64')]`)) as [
        string,
        string,
      ]
      expect(text).toBe('ours')
      expect(privateDecrypt({ key: privateKey, ...options }, Buffer.from(sealed, 'base64')).toString()).toBe('theirs')
    },
  )

  test('the padding of PKCS #1 encrypts, and does not decrypt', async () => {
    const [sealed, code] = (await told(`
      const padding = crypto.constants.RSA_PKCS1_PADDING
      const sealed = crypto.publicEncrypt({ key: ${source(openPem)}, padding }, Buffer.from('theirs'))
      try { crypto.privateDecrypt({ key: ${source(pem)}, padding }, sealed) } catch ({ code }) { return [sealed.toString('base64'), code] }`)) as [
      string,
      string,
    ]
    const padding = constants.RSA_PKCS1_PADDING
    expect(privateDecrypt({ key: privateKey, padding }, Buffer.from(sealed, 'base64')).toString()).toBe('theirs')
    expect(code).toBe('ERR_METHOD_NOT_IMPLEMENTED')
  })

  test.each([undefined, constants.RSA_PSS_SALTLEN_DIGEST, 5])(
    'PSS with a salt of %s signs as in Node, both ways',
    async (saltLength) => {
      const padding = constants.RSA_PKCS1_PSS_PADDING
      const options = { padding, ...(saltLength !== undefined && { saltLength }) }
      const given = sign('sha256', Buffer.from('ours'), { key: privateKey, ...options }).toString('base64')
      const [verified, signature] = (await told(`
      const check = (text, more) => crypto.verify('sha256', Buffer.from(text), { key: ${source(openPem)}, padding: ${padding}, ...more }, Buffer.from('${given}', 'base64'))
      const signature = crypto.createSign('RSA-SHA256').update('theirs').sign({ key: ${source(pem)}, ...${source(options)} }, 'base64')
      return [[check('ours'), check('ours', ${source(options)}), check('other'), check('ours', { saltLength: 6 })], signature]`)) as [
        boolean[],
        string,
      ]
      expect(verified).toEqual([true, true, false, false])
      const key = { key: publicKey, ...options }
      expect(verify('sha256', Buffer.from('theirs'), key, Buffer.from(signature, 'base64'))).toBe(true)
    },
  )
})

const failing = (...works: string[]) => `const failed = []
  for (const work of [${works.map((work) => `() => ${work}`).join(',')}]) {
    try { failed.push(work()) } catch (error) { failed.push([error.name, error.code]) }
  }
  return failed.map(([name, code]) => [name, code])`

const pairs = Object.fromEntries(
  ['prime256v1', 'secp384r1', 'secp521r1', 'secp256k1'].map((namedCurve) => {
    const made = generateKeyPairSync('ec', { namedCurve }).privateKey
    return [namedCurve, made.export({ type: 'pkcs8', format: 'pem' }) as string]
  }),
)
const x25519 = [1, 2].map(() => generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))

test('an encrypted key without its passphrase says so', async () => {
  const key = source(encrypted('pkcs8', 'aes-256-cbc'))
  const body = `try { crypto.createPrivateKey(${key}) } catch ({ code }) { return code }`
  expect(await told(body)).toBe('ERR_MISSING_PASSPHRASE')
})

describe('keys are read, agree and are made as in Node', () => {
  testAsInNode(
    sandbox,
    [
      ...(['aes-128-cbc', 'aes-192-cbc', 'aes-256-cbc', 'des-ede3-cbc'] as const).flatMap((cipher) =>
        (['pkcs1', 'pkcs8'] as const).map((type): Case => [
          `a key of ${type} with ${cipher}`,
          `const { createPrivateKey } = require('crypto'); const key = ${source(encrypted(type, cipher))}; return createPrivateKey({ key, passphrase: Buffer.from('word') }).export({ type: 'pkcs1', format: 'pem' })`,
        ]),
      ),
      [
        'keys with another passphrase, and texts that are no keys',
        `const { createPrivateKey, createPublicKey } = require('crypto')
        ${failing(
          `createPrivateKey({ key: ${source(encrypted('pkcs1', 'aes-256-cbc'))}, passphrase: 'other' }).type`,
          `createPublicKey('no key').type`,
          `createPrivateKey({ key: undefined })`,
        )}`,
      ],
      [
        'an encrypted key in bytes',
        `const { createPrivateKey } = require('crypto'); const key = Buffer.from('${privateKey.export({ type: 'pkcs8', format: 'der', cipher: 'aes-128-cbc', passphrase: 'word' }).toString('base64')}', 'base64'); return createPrivateKey({ key, format: 'der', type: 'pkcs8', passphrase: 'word' }).export({ type: 'pkcs8', format: 'pem' })`,
      ],
      [
        'a key that is encrypted here',
        `const { createPrivateKey } = require('crypto'); const key = createPrivateKey(${source(pem)}).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'new' }); return [key.split('\\n')[0], createPrivateKey({ key, passphrase: 'new' }).export({ type: 'pkcs8', format: 'pem' })]`,
      ],
      [
        'an elliptic key after its parameters',
        `const { createPrivateKey } = require('crypto'); const sec1 = createPrivateKey(${source(pairs['prime256v1'])}).export({ type: 'sec1', format: 'pem' }); return createPrivateKey('-----BEGIN EC PARAMETERS-----\\nBggqhkjOPQMBBw==\\n-----END EC PARAMETERS-----\\n' + sec1).export({ type: 'sec1', format: 'pem' })`,
      ],
      [
        'details of keys',
        `const { createPrivateKey } = require('crypto'); return [${source(pem)}, ...${source(Object.values(pairs))}, ${source(x25519[0])}].map((key) => createPrivateKey(key)).map(({ asymmetricKeyType, asymmetricKeyDetails }) => [asymmetricKeyType, asymmetricKeyDetails])`,
      ],
      ...Object.entries(pairs).flatMap(([curve, key]): Case[] => [
        [
          `signatures on ${curve}`,
          `const { sign, verify, createPrivateKey, createPublicKey } = require('crypto'); const key = createPrivateKey(${source(key)}); const data = Buffer.from('x'); return ['der', 'ieee-p1363'].map((dsaEncoding) => { const signature = sign('sha512', data, { key, dsaEncoding }); return [verify('sha512', data, { key: createPublicKey(key), dsaEncoding }, signature), dsaEncoding === 'der' || signature.length, createPublicKey(key).export({ format: 'jwk' })] })`,
        ],
        [
          `secrets on ${curve}`,
          `const { createECDH, createPrivateKey, createPublicKey, diffieHellman } = require('crypto'); const key = createPrivateKey(${source(key)}); const { d } = key.export({ format: 'jwk' }); const one = createECDH('${curve}'); one.setPrivateKey(d, 'base64url'); const other = createECDH('${curve}'); other.setPrivateKey('0102030405', 'hex'); const raw = one.computeSecret(other.getPublicKey()); return [one.getPublicKey('hex'), one.getPublicKey(null, 'compressed'), one.getPublicKey('base64', 'hybrid'), one.getPrivateKey('hex'), raw, other.computeSecret(one.getPublicKey('hex', 'compressed'), 'hex', 'hex'), diffieHellman({ privateKey: key, publicKey: createPublicKey(key) }), other.generateKeys().length]`,
        ],
      ]),
      [
        'signatures that are encoded in another way than the only right one',
        `const { sign, verify, createPrivateKey, createPublicKey } = require('crypto'); const key = createPrivateKey(${source(pairs['secp384r1'])}); const open = createPublicKey(key)
        // A long form of the length, an element behind the numbers, and a superfluous zero.
        const signature = sign('sha256', Buffer.from('x'), key); const numbers = signature.subarray(2)
        const longer = [Buffer.from([0x30, 0x81, numbers.length]), Buffer.from([0x30, numbers.length + 2]), Buffer.from([0x30, numbers.length + 1, 2, numbers[1] + 1, 0])]
        const forms = [signature, Buffer.concat([longer[0], numbers]), Buffer.concat([longer[1], numbers, Buffer.from([5, 0])]), Buffer.concat([longer[2], numbers.subarray(2)]), Buffer.concat([signature, Buffer.from([0])])]
        return forms.map((form) => verify('sha256', Buffer.from('x'), open, form))`,
      ],
      [
        'secrets of X25519',
        `const { createPrivateKey, createPublicKey, diffieHellman } = require('crypto'); const [one, other] = ${source(x25519)}.map((key) => createPrivateKey(key)); return [diffieHellman({ privateKey: one, publicKey: createPublicKey(other) }).toString('hex'), await new Promise((resolve) => diffieHellman({ privateKey: other, publicKey: createPublicKey(one) }, (error, secret) => resolve(secret.toString('hex'))))]`,
      ],
      [
        'agreements that fail',
        `const { createECDH, createPrivateKey, diffieHellman } = require('crypto'); const one = createECDH('prime256v1'); one.generateKeys(); const privateKey = createPrivateKey(${source(x25519[0])})
        ${failing(
          `createECDH('no curve')`,
          `createECDH(5)`,
          `createECDH('secp384r1').computeSecret(one.getPublicKey())`,
          `one.computeSecret(Buffer.alloc(65, 4))`,
          `one.setPrivateKey(Buffer.alloc(32))`,
          `diffieHellman({ privateKey, publicKey: createPrivateKey(${source(pem)}) })`,
        )}`,
      ],
      [
        'converted points',
        `const { ECDH } = require('crypto'); return ECDH.convertKey('02' + '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296', 'prime256v1', 'hex', 'hex', 'uncompressed')`,
      ],
      [
        'new keys',
        `const { generateKeyPairSync, generateKeyPair, generateKeySync, sign, verify } = require('crypto'); const { promisify } = require('util')
        const told = ({ publicKey, privateKey }, hash = 'sha256') => [publicKey.asymmetricKeyType, privateKey.type, publicKey.asymmetricKeyDetails, verify(hash, Buffer.from('x'), publicKey, sign(hash, Buffer.from('x'), privateKey))]
        const text = generateKeyPairSync('ec', { namedCurve: 'P-256', publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } })
        const called = await new Promise((resolve) => generateKeyPair('ed25519', {}, (error, publicKey, privateKey) => resolve(told({ publicKey, privateKey }, null))))
        return [told(generateKeyPairSync('ec', { namedCurve: 'secp521r1' })), told(await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })), called, generateKeyPairSync('x25519').publicKey.type, Object.values(text).map((key) => key.split('\\n')[0]), generateKeySync('aes', { length: 192 }).symmetricKeySize, generateKeySync('hmac', { length: 80 }).export().length]`,
      ],
      [
        'keys of crypto.subtle',
        `const { KeyObject, createHmac, sign, verify, createPublicKey } = require('crypto'); const { subtle } = crypto
        const { publicKey, privateKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
        const secret = KeyObject.from(await subtle.importKey('raw', Buffer.from('secret'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']))
        const key = KeyObject.from(privateKey)
        return [key.type, key.asymmetricKeyDetails, verify('sha256', Buffer.from('x'), KeyObject.from(publicKey), sign('sha256', Buffer.from('x'), key)), createHmac('sha256', secret).update('x').digest('hex'), createPublicKey(key).equals(KeyObject.from(publicKey))]`,
      ],
      [
        'signatures that are called back',
        `const { sign, verify } = require('crypto'); const { promisify } = require('util'); const signature = await promisify(sign)('sha256', Buffer.from('x'), ${source(pem)}); return [signature.toString('hex'), await promisify(verify)('sha256', Buffer.from('x'), ${source(openPem)}, signature), await promisify(sign)('sha256', Buffer.from('x'), 'no key').catch(({ code }) => code)]`,
      ],
      [
        'keys that are wrapped, ChaCha20 with Poly1305, and other names of ciphers',
        `const { createCipheriv, createDecipheriv, getCipherInfo } = require('crypto'); const key = Buffer.alloc(32, 1)
        const wrap = createCipheriv('id-aes256-wrap', key, Buffer.alloc(8, 0xa6)); const wrapped = Buffer.concat([wrap.update(Buffer.alloc(16, 5)), wrap.final()])
        const unwrap = createDecipheriv('aes256-wrap', key, Buffer.alloc(8, 0xa6)); const again = Buffer.concat([unwrap.update(wrapped), unwrap.final()])
        const box = createCipheriv('chacha20-poly1305', key, Buffer.alloc(12), { authTagLength: 16 }); box.setAAD(Buffer.from('a'), { plaintextLength: 4 }); const sealed = box.update('text', 'utf8', 'hex') + box.final('hex')
        const alias = createCipheriv('aes256', key, Buffer.alloc(16)); return [wrapped, again, sealed, box.getAuthTag(), alias.update('a', 'utf8', 'hex') + alias.final('hex'), getCipherInfo('none')]`,
      ],
    ],
    'sdk',
  )
})

test.each([
  `const c = require('crypto'); c.sign('sha256', data, key)`,
  `const { verify } = require("node:crypto")`,
  `var import_crypto = require("crypto"); import_crypto.default.publicEncrypt(key, data)`,
  `require('crypto').generateKeyPairSync('ec')`,
])('a bundle with %s loads the functions of keys', (code) => {
  expect(scriptsFor(code)).toContain('keys')
})
