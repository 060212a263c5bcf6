import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { bot, callRun } from '../fixture.ts'
import { sandboxOfFile, testAsInNode, type Case } from './compare.ts'

/** RSA beyond signatures of PKCS #1, X25519 and the encryption of keys by keys, in `crypto.subtle`. */

const sandbox = sandboxOfFile()
const { subtle } = crypto

const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const secret = JSON.stringify(rsa.export({ format: 'jwk' }))
const open = JSON.stringify(createPublicKey(rsa).export({ format: 'jwk' }))

const [mine, theirs] = [generateKeyPairSync('x25519'), generateKeyPairSync('x25519')].map(({ privateKey }) =>
  JSON.stringify(privateKey.export({ format: 'jwk' })),
)

const helpers = `const { subtle } = crypto
const utf8 = (text) => new TextEncoder().encode(text)
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')
const bytes = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16))
const count = (length) => Uint8Array.from({ length }, (_, index) => index)
const names = async (...works) => {
  const results = []
  for (const work of works) {
    try { results.push(await work()) } catch (error) { results.push(error.name) }
  }
  return results
}
`

function helped(cases: readonly Case[]): Case[] {
  return cases.map(([title, body]) => [title, `${helpers}${body}`])
}

/** The result of a body in an isolate, with time for new keys of RSA. */
async function result(body: string, cpuMilliseconds = 10_000): Promise<unknown> {
  const run = callRun(
    bot(`exports.handler = async () => { ${helpers}${body} }`),
    {},
    { limits: { cpuMilliseconds, wallMilliseconds: 60_000 } },
  )
  const outcome = await sandbox().run(run)
  return outcome.status === 'done' ? outcome.result : outcome.reason
}

describe('RSA', () => {
  const label = [9, 9]
  test.each(['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'])(
    'with OAEP and %s decrypts as Node does, both ways',
    async (hash) => {
      const algorithm = { name: 'RSA-OAEP', label: Uint8Array.from(label) }
      const importKey = (key: KeyObject, usage: 'encrypt' | 'decrypt') =>
        subtle.importKey('jwk', key.export({ format: 'jwk' }), { name: 'RSA-OAEP', hash }, false, [usage])
      const given = await subtle.encrypt(
        algorithm,
        await importKey(createPublicKey(rsa), 'encrypt'),
        Buffer.from('ours'),
      )
      const [text, encrypted, refused] = (await result(`
      const key = await subtle.importKey('jwk', ${secret}, { name: 'RSA-OAEP', hash: '${hash}' }, false, ['decrypt'])
      const open = await subtle.importKey('jwk', ${open}, { name: 'RSA-OAEP', hash: '${hash}' }, false, ['encrypt'])
      const algorithm = { name: 'RSA-OAEP', label: Uint8Array.of(${String(label)}) }
      const given = bytes('${Buffer.from(given).toString('hex')}')
      const text = new TextDecoder().decode(await subtle.decrypt(algorithm, key, given))
      const other = await subtle.decrypt('RSA-OAEP', key, given).catch(({ name }) => name)
      given[7] ^= 1
      const changed = await subtle.decrypt(algorithm, key, given).catch(({ name }) => name)
      return [text, hex(await subtle.encrypt(algorithm, open, utf8('theirs'))), [other, changed]]`)) as [
        string,
        string,
        string[],
      ]
      expect(text).toBe('ours')
      expect(refused).toEqual(['OperationError', 'OperationError'])
      const decrypted = await subtle.decrypt(algorithm, await importKey(rsa, 'decrypt'), Buffer.from(encrypted, 'hex'))
      expect(Buffer.from(decrypted).toString()).toBe('theirs')
    },
  )

  test.each([
    ['SHA-256', 32],
    ['SHA-384', 0],
    ['SHA-1', 100],
  ])('with PSS and %s, a salt of %d bytes, verifies as Node does, both ways', async (hash, saltLength) => {
    const algorithm = { name: 'RSA-PSS', saltLength }
    const importKey = (key: KeyObject, usage: 'sign' | 'verify') =>
      subtle.importKey('jwk', key.export({ format: 'jwk' }), { name: 'RSA-PSS', hash }, false, [usage])
    const given = await subtle.sign(algorithm, await importKey(rsa, 'sign'), Buffer.from('ours'))
    const [verified, signature] = (await result(`
      const key = await subtle.importKey('jwk', ${secret}, { name: 'RSA-PSS', hash: '${hash}' }, false, ['sign'])
      const open = await subtle.importKey('jwk', ${open}, { name: 'RSA-PSS', hash: '${hash}' }, false, ['verify'])
      const algorithm = { name: 'RSA-PSS', saltLength: ${saltLength} }
      const given = bytes('${Buffer.from(given).toString('hex')}')
      const verify = (algorithm, text) => subtle.verify(algorithm, open, given, utf8(text))
      const verified = [await verify(algorithm, 'ours'), await verify(algorithm, 'other'), await verify({ name: 'RSA-PSS', saltLength: 7 }, 'ours')]
      return [verified, hex(await subtle.sign(algorithm, key, utf8('theirs')))]`)) as [boolean[], string]
    expect(verified).toEqual([true, false, false])
    const publicKey = await importKey(createPublicKey(rsa), 'verify')
    expect(await subtle.verify(algorithm, publicKey, Buffer.from(signature, 'hex'), Buffer.from('theirs'))).toBe(true)
  })

  test('signs the same each time, although its exponent is another one', async () => {
    const signatures = (await result(`
      const key = await subtle.importKey('jwk', ${secret}, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['sign'])
      const { n, e, d } = ${secret}
      const bare = await subtle.importKey('jwk', { kty: 'RSA', n, e, d }, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['sign'])
      const sign = async (one) => hex(await subtle.sign('RSASSA-PKCS1-v1_5', one, utf8('a')))
      return [await sign(key), await sign(key), await sign(bare)]`)) as string[]
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    const key = await subtle.importKey('jwk', rsa.export({ format: 'jwk' }), algorithm, false, ['sign'])
    const expected = Buffer.from(await subtle.sign('RSASSA-PKCS1-v1_5', key, Buffer.from('a'))).toString('hex')
    expect(signatures).toEqual([expected, expected, expected])
  })

  test('makes new keys, which Node uses', { timeout: 90_000 }, async () => {
    const [file, algorithm, usages] = (await result(`
      const algorithm = { name: 'RSA-OAEP', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' }
      const { publicKey, privateKey } = await subtle.generateKey(algorithm, true, ['encrypt', 'decrypt', 'wrapKey'])
      const told = { ...privateKey.algorithm, publicExponent: [...privateKey.algorithm.publicExponent] }
      return [hex(await subtle.exportKey('pkcs8', privateKey)), told, [publicKey.usages, privateKey.usages, publicKey.extractable]]`)) as [
      string,
      object,
      unknown,
    ]
    expect(usages).toEqual([['encrypt', 'wrapKey'], ['decrypt'], true])
    const hash = { name: 'SHA-256' }
    expect(algorithm).toEqual({ name: 'RSA-OAEP', modulusLength: 2048, publicExponent: [1, 0, 1], hash })
    const data = Buffer.from(file, 'hex')
    const key = await subtle.importKey('pkcs8', data, { name: 'RSA-OAEP', hash: 'SHA-256' }, true, ['decrypt'])
    const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, key_ops: _ops, ...jwk } = await subtle.exportKey('jwk', key)
    const publicKey = await subtle.importKey('jwk', jwk, { name: 'RSA-OAEP', hash: 'SHA-256' }, true, ['encrypt'])
    const sealed = await subtle.encrypt('RSA-OAEP', publicKey, Buffer.from('new'))
    expect(Buffer.from(await subtle.decrypt('RSA-OAEP', key, sealed)).toString()).toBe('new')
  })

  test('makes no new key for usages or a hash that it does not have', async () => {
    const body = `
      const algorithm = { name: 'RSA-PSS', modulusLength: 4096, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' }
      return names(
        () => subtle.generateKey(algorithm, true, ['sign', 'encrypt']),
        () => subtle.generateKey(algorithm, true, ['verify']),
        () => subtle.generateKey(algorithm, true, []),
        () => subtle.generateKey({ ...algorithm, hash: 'MD5' }, true, ['sign']),
      )`
    const expected = ['SyntaxError', 'SyntaxError', 'SyntaxError', 'NotSupportedError']
    expect(await result(body, 700)).toEqual(expected)
  })

  testAsInNode(
    sandbox,
    helped([
      ...['RSA-OAEP', 'RSA-PSS', 'RSASSA-PKCS1-v1_5'].map((name): Case => {
        const [forPublic, forPrivate] = name === 'RSA-OAEP' ? ['encrypt', 'decrypt'] : ['verify', 'sign']
        return [
          `keys of ${name} in all their forms`,
          `const algorithm = { name: '${name}', hash: 'SHA-384' }
          const key = await subtle.importKey('jwk', ${secret}, algorithm, true, ['${forPrivate}'])
          const open = await subtle.importKey('jwk', ${open}, algorithm, true, ['${forPublic}'])
          const file = await subtle.exportKey('pkcs8', key)
          const again = await subtle.importKey('pkcs8', file, algorithm, true, ['${forPrivate}'])
          const told = ({ type, algorithm: { name, modulusLength, publicExponent, hash }, usages }) => ({ type, name, modulusLength, publicExponent, hash, usages })
          const sorted = (jwk) => Object.entries(jwk).sort()
          return [hex(file), hex(await subtle.exportKey('spki', open)), sorted(await subtle.exportKey('jwk', again)), sorted(await subtle.exportKey('jwk', open)), told(again), told(open)]`,
        ]
      }),
      [
        'a key of AES, wrapped by RSA',
        `const algorithm = { name: 'RSA-OAEP', hash: 'SHA-256' }
        const key = await subtle.importKey('jwk', ${secret}, algorithm, false, ['unwrapKey'])
        const open = await subtle.importKey('jwk', ${open}, algorithm, false, ['wrapKey'])
        const aes = await subtle.importKey('raw', count(16), 'AES-GCM', true, ['encrypt'])
        const wrapped = await subtle.wrapKey('raw', aes, open, 'RSA-OAEP')
        const unwrapped = await subtle.unwrapKey('raw', wrapped, key, 'RSA-OAEP', 'AES-GCM', true, ['decrypt'])
        return [wrapped.byteLength, hex(await subtle.exportKey('raw', unwrapped))]`,
      ],
      [
        'what RSA refuses',
        `const oaep = { name: 'RSA-OAEP', hash: 'SHA-256' }
        const open = await subtle.importKey('jwk', ${open}, oaep, true, ['encrypt'])
        const pss = await subtle.importKey('jwk', ${secret}, { name: 'RSA-PSS', hash: 'SHA-256' }, true, ['sign'])
        return names(
          () => subtle.encrypt('RSA-OAEP', open, count(191)),
          async () => (await subtle.encrypt('RSA-OAEP', open, count(190))).byteLength,
          () => subtle.decrypt('RSA-OAEP', open, count(256)),
          () => subtle.sign({ name: 'RSA-PSS', saltLength: 300 }, pss, count(1)),
          () => subtle.importKey('jwk', ${open}, oaep, true, ['sign']),
          () => subtle.importKey('jwk', { ...${open}, alg: 'RSA-OAEP' }, oaep, true, ['encrypt']),
          () => subtle.importKey('raw', count(3), oaep, true, ['encrypt']),
        )`,
      ],
    ]),
  )
})

/** A number with this many bits, in base64url. */
const digits = (bits: number, last = 1) =>
  Buffer.concat([
    Buffer.from([1 << ((bits - 1) % 8)]),
    Buffer.alloc(Math.ceil(bits / 8) - 2),
    Buffer.from([last]),
  ]).toString('base64url')
const importing = (n: string, e: string) => `
  const jwk = { kty: 'RSA', n: '${n}', e: '${e}' }
  return subtle.importKey('jwk', jwk, { name: 'RSA-PSS', hash: 'SHA-256' }, true, ['verify']).then(({ type }) => type, ({ name }) => name)`

describe('RSA of strangers', () => {
  test.each([
    { what: 'a modulus of 16,384 bits', n: digits(16_384), e: 'AQAB', expected: 'public' },
    { what: 'a modulus of more bits', n: digits(16_385), e: 'AQAB', expected: 'DataError' },
    { what: 'an even modulus', n: digits(2048, 2), e: 'AQAB', expected: 'DataError' },
    { what: 'an even exponent', n: digits(2048), e: 'AQAA', expected: 'DataError' },
    { what: 'the exponent 1', n: digits(2048), e: 'AQ', expected: 'DataError' },
    { what: 'a long exponent', n: digits(4096), e: digits(65), expected: 'DataError' },
    { what: 'a long exponent of a small key', n: digits(2048), e: digits(2000), expected: 'public' },
    { what: 'an exponent beyond the modulus', n: digits(2048), e: digits(2056), expected: 'DataError' },
    { what: 'no modulus', n: '', e: 'AQAB', expected: 'DataError' },
  ])('with $what is $expected', async ({ n, e, expected }) => {
    expect(await result(importing(n, e))).toBe(expected)
  })
})

describe('keys that agree, and keys that wrap keys', () => {
  testAsInNode(
    sandbox,
    helped([
      [
        'secrets of X25519, from both sides',
        `const read = (jwk) => subtle.importKey('jwk', jwk, 'X25519', true, jwk.d ? ['deriveBits', 'deriveKey'] : [])
        const mine = ${mine}, theirs = ${theirs}
        const opened = ({ d, ...rest }) => read(rest)
        const derive = async (key, other, length) => hex(await subtle.deriveBits({ name: 'X25519', public: other }, key, length))
        const aes = await subtle.deriveKey({ name: 'x25519', public: await opened(theirs) }, await read(mine), { name: 'AES-GCM', length: 128 }, true, ['encrypt'])
        return [await derive(await read(mine), await opened(theirs), null), await derive(await read(theirs), await opened(mine), 256), await derive(await read(mine), await opened(theirs), 13), hex(await subtle.exportKey('raw', aes))]`,
      ],
      [
        'forms of keys of X25519',
        `const key = await subtle.importKey('jwk', ${mine}, 'X25519', true, ['deriveBits'])
        const file = await subtle.exportKey('pkcs8', key)
        const again = await subtle.importKey('pkcs8', file, { name: 'X25519' }, true, ['deriveKey'])
        const { publicKey, privateKey } = await subtle.generateKey('X25519', false, ['deriveKey'])
        return [hex(file), await subtle.exportKey('jwk', again), again.algorithm, publicKey.usages, privateKey.usages, (await subtle.exportKey('raw', publicKey)).byteLength]`,
      ],
      [
        'what X25519 refuses',
        `const key = await subtle.importKey('jwk', ${mine}, 'X25519', true, ['deriveBits'])
        const zero = await subtle.importKey('raw', new Uint8Array(32), 'X25519', true, [])
        return names(
          () => subtle.deriveBits({ name: 'X25519', public: zero }, key, 256),
          () => subtle.deriveBits({ name: 'X25519', public: key }, key, 256),
          () => subtle.deriveBits({ name: 'X25519' }, key, 256),
          () => subtle.importKey('raw', count(31), 'X25519', true, []),
          () => subtle.importKey('jwk', { ...${mine}, crv: 'Ed25519' }, 'X25519', true, ['deriveBits']),
        )`,
      ],
      [
        'AES-KW',
        `const wrapping = await subtle.importKey('raw', count(32), 'AES-KW', true, ['wrapKey', 'unwrapKey'])
        const hmac = await subtle.importKey('raw', count(24), { name: 'HMAC', hash: 'SHA-1' }, true, ['sign'])
        const odd = await subtle.importKey('raw', count(23), { name: 'HMAC', hash: 'SHA-1' }, true, ['sign'])
        const wrapped = await subtle.wrapKey('raw', hmac, wrapping, 'AES-KW')
        const unwrapped = await subtle.unwrapKey('raw', wrapped, wrapping, 'AES-KW', { name: 'HMAC', hash: 'SHA-1' }, true, ['sign'])
        const changed = new Uint8Array(wrapped); changed[0] ^= 1
        const { k, ...jwk } = await subtle.exportKey('jwk', wrapping)
        return [hex(wrapped), hex(await subtle.exportKey('raw', unwrapped)), jwk, await names(
          () => subtle.wrapKey('raw', odd, wrapping, 'AES-KW'),
          () => subtle.unwrapKey('raw', changed, wrapping, 'AES-KW', 'AES-GCM', true, ['encrypt']),
          () => subtle.importKey('raw', count(16), 'AES-KW', true, ['encrypt']),
        )]`,
      ],
    ]),
  )
})

/** A public key, and signatures of `m` that hold in the equation, whose first halves are the points of the orders 1 and 4. */
const smallOrder = {
  key: 'ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c',
  signatures: [
    '0100000000000000000000000000000000000000000000000000000000000000a0000a78db7a82c4c93e9993fa593de3ae8f9c2be437041e83562bebd74d4907',
    '0000000000000000000000000000000000000000000000000000000000000000c5b9ec7c4d9eaa58a0129cf1494686655163375bc669e1af93fb9a71269c8905',
  ],
}

describe('Ed25519', () => {
  testAsInNode(
    sandbox,
    helped([
      [
        'refuses signatures with points of small orders',
        `const key = await subtle.importKey('raw', bytes('${smallOrder.key}'), 'Ed25519', false, ['verify'])
        return Promise.all(${JSON.stringify(smallOrder.signatures)}.map((signature) => subtle.verify('Ed25519', key, bytes(signature), utf8('m'))))`,
      ],
    ]),
  )
})

describe('parameters of algorithms', () => {
  testAsInNode(
    sandbox,
    helped([
      [
        'are read before the data is copied, also from getters of a class',
        `const key = await subtle.importKey('raw', count(16), 'AES-CBC', false, ['encrypt'])
        const data = count(20)
        class Parameters { get name() { data[0] = 9; return 'AES-CBC' } get iv() { data[1] = 9; return count(16) } }
        const changed = await subtle.encrypt(new Parameters(), key, data)
        const iv = count(16)
        const encrypting = subtle.encrypt({ name: 'AES-CBC', iv }, key, data)
        iv[0] = 9; data[2] = 9
        return [hex(changed), hex(await encrypting)]`,
      ],
      ['without a name are none', `return subtle.generateKey({}, true, ['encrypt'])`],
    ]),
  )
})
