import { generateKeyPairSync } from 'node:crypto'
import { runInThisContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { bot, callRun } from '../fixture.ts'
import { sandboxOfFile, testAsInNode, type Case } from './compare.ts'

const sandbox = sandboxOfFile()
const { subtle } = crypto

const helpers = `const { subtle } = crypto
const utf8 = (text) => new TextEncoder().encode(text)
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16))
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
const count = (length) => Uint8Array.from({ length }, (_, index) => index)
`

function helped(cases: readonly Case[]): Case[] {
  return cases.map(([title, body]) => [title, `${helpers}${body}`])
}

/** An algorithm that is told as source. */
function evaluate(source: string): Parameters<typeof subtle.sign>[0] {
  return runInThisContext(`(${source})`) as Parameters<typeof subtle.sign>[0]
}

const hashes = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']

/** Lengths around the blocks of the hashes. */
const lengths = [0, 1, 55, 56, 64, 111, 112, 128, 1000]

describe('crypto.subtle computes what it computes in Node', () => {
  testAsInNode(
    sandbox,
    helped([
      ...hashes.map((hash): Case => [
        `digests: ${hash}`,
        `return Promise.all(${JSON.stringify(lengths)}.map(async (length) => hex(await subtle.digest('${hash}', count(length)))))`,
      ]),
      ['a digest named by an object', `return hex(await subtle.digest({ name: 'sha-256' }, utf8('a')))`],
      [
        'a digest of a buffer and of a part',
        `return [hex(await subtle.digest('SHA-1', count(9).buffer)), hex(await subtle.digest('SHA-1', count(9).subarray(2, 4)))]`,
      ],
      ['a digest that there is not', `return subtle.digest('MD5', utf8('a'))`],
      ['a digest of a text', `return subtle.digest('SHA-1', 'a')`],
      ...hashes.flatMap((hash): Case[] => [
        [
          `HMAC with ${hash}`,
          `return Promise.all([1, 64, 65, 200].map(async (length) => { const key = await subtle.importKey('raw', count(length), { name: 'HMAC', hash: '${hash}' }, false, ['sign']); return hex(await subtle.sign('HMAC', key, utf8('data'))) }))`,
        ],
        [
          `a new key of HMAC with ${hash}`,
          `const key = await subtle.generateKey({ name: 'HMAC', hash: '${hash}' }, true, ['sign', 'verify']); const signature = await subtle.sign('HMAC', key, utf8('a')); return [key.algorithm, key.type, key.usages, await subtle.verify('HMAC', key, signature, utf8('a')), await subtle.verify('HMAC', key, signature, utf8('b')), (await subtle.exportKey('raw', key)).byteLength]`,
        ],
        [
          `PBKDF2 with ${hash}`,
          `const key = await subtle.importKey('raw', utf8('password'), 'PBKDF2', false, ['deriveBits']); return hex(await subtle.deriveBits({ name: 'PBKDF2', hash: '${hash}', salt: utf8('salt'), iterations: 3 }, key, 320))`,
        ],
        [
          `HKDF with ${hash}`,
          `const key = await subtle.importKey('raw', count(22), 'HKDF', false, ['deriveBits']); return hex(await subtle.deriveBits({ name: 'HKDF', hash: '${hash}', salt: count(13), info: utf8('info') }, key, 656))`,
        ],
      ]),
      ...[16, 24, 32].flatMap((length): Case[] => [
        [
          `AES-GCM with ${length} bytes`,
          `const key = await subtle.importKey('raw', count(${length}), 'AES-GCM', true, ['encrypt', 'decrypt']); return Promise.all([0, 1, 16, 33].map(async (size) => { const parameters = { name: 'AES-GCM', iv: count(12), additionalData: utf8('more') }; const secret = await subtle.encrypt(parameters, key, count(size)); return [hex(secret), hex(await subtle.decrypt(parameters, key, secret))] }))`,
        ],
        [
          `AES-CBC with ${length} bytes`,
          `const key = await subtle.importKey('raw', count(${length}), 'AES-CBC', true, ['encrypt', 'decrypt']); return Promise.all([0, 1, 16, 33].map(async (size) => { const parameters = { name: 'AES-CBC', iv: count(16) }; const secret = await subtle.encrypt(parameters, key, count(size)); return [hex(secret), hex(await subtle.decrypt(parameters, key, secret))] }))`,
        ],
        [
          `AES-CTR with ${length} bytes`,
          `const key = await subtle.importKey('raw', count(${length}), 'AES-CTR', true, ['encrypt', 'decrypt']); return Promise.all([0, 1, 16, 33].map(async (size) => { const parameters = { name: 'AES-CTR', counter: count(16), length: 64 }; const secret = await subtle.encrypt(parameters, key, count(size)); return [hex(secret), hex(await subtle.decrypt(parameters, key, secret))] }))`,
        ],
      ]),
      [
        'AES-GCM with an iv of another length',
        `const key = await subtle.importKey('raw', count(16), 'AES-GCM', true, ['encrypt']); return Promise.all([13, 16, 32].map(async (length) => hex(await subtle.encrypt({ name: 'AES-GCM', iv: count(length) }, key, utf8('a')))))`,
      ],
      [
        'AES-GCM with data that was changed',
        `const key = await subtle.importKey('raw', count(16), 'AES-GCM', true, ['encrypt', 'decrypt']); const parameters = { name: 'AES-GCM', iv: count(12) }; const secret = new Uint8Array(await subtle.encrypt(parameters, key, utf8('a'))); secret[0] ^= 1; return subtle.decrypt(parameters, key, secret)`,
      ],
      [
        'AES-GCM without an iv',
        `const key = await subtle.importKey('raw', count(16), 'AES-GCM', true, ['encrypt']); return subtle.encrypt({ name: 'AES-GCM' }, key, utf8('a'))`,
      ],
      [
        'AES-CBC with data that was changed',
        `const key = await subtle.importKey('raw', count(16), 'AES-CBC', true, ['decrypt']); return subtle.decrypt({ name: 'AES-CBC', iv: count(16) }, key, count(15))`,
      ],
      [
        'AES-CBC with a short iv',
        `const key = await subtle.importKey('raw', count(16), 'AES-CBC', true, ['encrypt']); return subtle.encrypt({ name: 'AES-CBC', iv: count(12) }, key, utf8('a'))`,
      ],
      [
        'AES-CTR with a short counter',
        `const key = await subtle.importKey('raw', count(16), 'AES-CTR', true, ['encrypt']); return subtle.encrypt({ name: 'AES-CTR', counter: count(12), length: 64 }, key, utf8('a'))`,
      ],
      [
        'AES-CTR with a counter that overflows',
        `const key = await subtle.importKey('raw', count(16), 'AES-CTR', true, ['encrypt']); return hex(await subtle.encrypt({ name: 'AES-CTR', counter: new Uint8Array(16).fill(255), length: 128 }, key, count(40)))`,
      ],
      [
        'AES-CTR with a short count that overflows',
        `const key = await subtle.importKey('raw', count(16), 'AES-CTR', true, ['encrypt']); return hex(await subtle.encrypt({ name: 'AES-CTR', counter: new Uint8Array(16).fill(255), length: 4 }, key, count(40)))`,
      ],
      [
        'AES-CTR with more than the counter counts',
        `const key = await subtle.importKey('raw', count(16), 'AES-CTR', true, ['encrypt']); return subtle.encrypt({ name: 'AES-CTR', counter: count(16), length: 1 }, key, count(40))`,
      ],
      ...['AES-GCM', 'AES-CBC', 'AES-CTR'].map((name): Case => [
        `a new key of ${name}`,
        `const key = await subtle.generateKey({ name: '${name}', length: 256 }, true, ['encrypt', 'decrypt']); const jwk = await subtle.exportKey('jwk', key); const again = await subtle.importKey('jwk', jwk, '${name}', true, ['decrypt']); return [key.algorithm, key.usages, { ...jwk, k: jwk.k.length }, hex(await subtle.exportKey('raw', again)) === hex(await subtle.exportKey('raw', key))]`,
      ]),
      ['a key of AES of another length', `return subtle.importKey('raw', count(15), 'AES-GCM', true, ['encrypt'])`],
      [
        'a key derived by PBKDF2',
        `const key = await subtle.importKey('raw', utf8('p'), 'PBKDF2', false, ['deriveKey']); const derived = await subtle.deriveKey({ name: 'PBKDF2', hash: 'SHA-256', salt: utf8('s'), iterations: 2 }, key, { name: 'AES-GCM', length: 256 }, true, ['encrypt']); return [derived.algorithm, hex(await subtle.exportKey('raw', derived))]`,
      ],
      [
        'a key derived by HKDF',
        `const key = await subtle.importKey('raw', utf8('p'), 'HKDF', false, ['deriveKey']); const derived = await subtle.deriveKey({ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: new Uint8Array() }, key, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']); return [derived.algorithm, hex(await subtle.exportKey('raw', derived))]`,
      ],
      [
        'PBKDF2 without iterations',
        `const key = await subtle.importKey('raw', utf8('p'), 'PBKDF2', false, ['deriveBits']); return subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: utf8('s'), iterations: 0 }, key, 128)`,
      ],
      [
        'an odd number of bits',
        `const key = await subtle.importKey('raw', utf8('p'), 'PBKDF2', false, ['deriveBits']); return subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: utf8('s'), iterations: 1 }, key, 12)`,
      ],
      [
        'an empty key of HMAC',
        `return subtle.importKey('raw', new Uint8Array(), { name: 'HMAC', hash: 'SHA-1' }, false, ['sign'])`,
      ],
      ['a key of HMAC without a hash', `return subtle.importKey('raw', count(3), 'HMAC', false, ['sign'])`],
      [
        'a key of HMAC as JSON',
        `const jwk = { kty: 'oct', k: 'AAECAw', alg: 'HS256' }; const key = await subtle.importKey('jwk', jwk, { name: 'HMAC', hash: 'SHA-256' }, true, ['verify', 'sign']); return [key.algorithm, hex(await subtle.exportKey('raw', key)), (await subtle.exportKey('jwk', key)).k]`,
      ],
      [
        'an HMAC with any of its bytes changed',
        `const key = await subtle.importKey('raw', count(9), { name: 'HMAC', hash: 'SHA-1' }, false, ['sign', 'verify']); const signature = new Uint8Array(await subtle.sign('HMAC', key, utf8('a'))); const results = []; for (let at = 0; at < signature.length; at += 1) { const changed = signature.slice(); changed[at] ^= 128; results.push(await subtle.verify('HMAC', key, changed, utf8('a'))) } return [...results, await subtle.verify('HMAC', key, signature, utf8('a')), await subtle.verify('HMAC', key, signature.slice(0, 10), utf8('a'))]`,
      ],
      [
        'a key for another use',
        `return subtle.importKey('raw', count(16), { name: 'HMAC', hash: 'SHA-1' }, false, ['encrypt'])`,
      ],
      ['a key for no use', `return subtle.importKey('raw', count(16), 'AES-GCM', false, [])`],
      [
        'a use that the key is not for',
        `const key = await subtle.importKey('raw', count(16), { name: 'HMAC', hash: 'SHA-1' }, false, ['verify']); return subtle.sign('HMAC', key, utf8('a'))`,
      ],
      [
        'an algorithm that the key is not of',
        `const key = await subtle.importKey('raw', count(16), { name: 'HMAC', hash: 'SHA-1' }, false, ['sign']); return subtle.sign({ name: 'ECDSA', hash: 'SHA-1' }, key, utf8('a'))`,
      ],
      [
        'a key that is not to be exported',
        `const key = await subtle.importKey('raw', count(16), 'AES-GCM', false, ['encrypt']); return subtle.exportKey('raw', key)`,
      ],
      ['an algorithm that there is not', `return subtle.importKey('raw', count(16), 'ROT-13', false, ['encrypt'])`],
      ['a format that there is not', `return subtle.importKey('pem', count(16), 'AES-GCM', false, ['encrypt'])`],
      ['a key that is none', `return subtle.sign('HMAC', {}, utf8('a'))`],
      [
        'a key, shown',
        `const key = await subtle.importKey('raw', count(16), 'AES-GCM', false, ['encrypt', 'encrypt']); return [String(key), key.type, key.extractable, key.usages, key.algorithm, key instanceof CryptoKey]`,
      ],
      ['no constructor of keys', `return new CryptoKey()`],
      ['its tag', `return String(subtle)`],
    ]),
  )
})

/** The name of what each expression throws, or its result. */
const each = (expressions: string[]) => `const results = []
  for (const work of [${expressions.map((expression) => `async () => ${expression}`).join(',')}]) {
    try { results.push(await work()) } catch (error) { results.push(error.name) }
  }
  return results`

/** The private keys of two people, as source. */
const pairs = await Promise.all(
  ['P-256', 'P-384', 'P-521'].map(async (curve) => {
    const algorithm = { name: 'ECDH', namedCurve: curve }
    const makeKey = async () => {
      const { privateKey } = await subtle.generateKey(algorithm, true, ['deriveBits'])
      const { kty, crv, x, y, d } = await subtle.exportKey('jwk', privateKey)
      return { kty, crv, x, y, d }
    }
    return { curve, keys: JSON.stringify([await makeKey(), await makeKey()]) }
  }),
)

describe('crypto.subtle agrees on secrets as in Node', () => {
  testAsInNode(
    sandbox,
    helped(
      pairs.flatMap(({ curve, keys }): Case[] => {
        const head = `const algorithm = { name: 'ECDH', namedCurve: '${curve}' }
          const [mine, theirs] = await Promise.all(${keys}.map((key) => subtle.importKey('jwk', key, algorithm, true, ['deriveKey', 'deriveBits'])))
          const [myPublic, theirPublic] = await Promise.all(${keys}.map(({ d, ...key }) => subtle.importKey('jwk', key, algorithm, true, [])));`
        return [
          [
            `bits of ${curve}, from both sides`,
            `${head} return [mine.algorithm, mine.usages, theirPublic.usages, ...await Promise.all([
              subtle.deriveBits({ name: 'ECDH', public: theirPublic }, mine, null),
              subtle.deriveBits({ name: 'ECDH', public: theirPublic }, mine),
              subtle.deriveBits({ name: 'ECDH', public: myPublic }, theirs, 256),
              subtle.deriveBits({ name: 'ecdh', public: theirPublic }, mine, 128),
              subtle.deriveBits({ name: 'ECDH', public: theirPublic }, mine, 0),
            ]).then((all) => all.map(hex))]`,
          ],
          [
            `keys that are derived with ${curve}`,
            `${head} const given = { name: 'ECDH', public: theirPublic }
            const key = await subtle.deriveKey(given, mine, { name: 'AES-GCM', length: 256 }, true, ['encrypt'])
            const hmac = await subtle.deriveKey(given, mine, { name: 'HMAC', hash: 'SHA-256', length: 256 }, true, ['sign'])
            const secret = await subtle.deriveKey(given, mine, 'HKDF', false, ['deriveBits'])
            const bits = await subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: count(16), info: utf8('push') }, secret, 128)
            return [hex(await subtle.exportKey('raw', key)), hex(await subtle.exportKey('raw', hmac)), hex(bits)]`,
          ],
          [
            `forms of keys of ${curve}`,
            `${head} const point = await subtle.exportKey('raw', theirPublic)
            const file = await subtle.exportKey('pkcs8', mine)
            const read = await Promise.all([
              subtle.importKey('raw', point, algorithm, false, []),
              subtle.importKey('spki', await subtle.exportKey('spki', theirPublic), algorithm, false, []),
              subtle.importKey('pkcs8', file, algorithm, false, ['deriveBits']),
            ])
            return [hex(point), hex(file), read.map(({ type, algorithm, extractable, usages }) => ({ type, algorithm, extractable, usages }))]`,
          ],
          [
            `refused agreements of ${curve}`,
            `${head} const other = await subtle.generateKey({ name: 'ECDH', namedCurve: '${curve === 'P-256' ? 'P-384' : 'P-256'}' }, false, ['deriveBits'])
            const signing = await subtle.generateKey({ name: 'ECDSA', namedCurve: '${curve}' }, false, ['sign', 'verify'])
            const point = new Uint8Array(await subtle.exportKey('raw', theirPublic)); point[point.length - 1] ^= 1
            ${each([
              `subtle.deriveBits({ name: 'ECDH', public: theirPublic }, mine, 1024)`,
              `subtle.deriveBits({ name: 'ECDH', public: theirs }, mine, 128)`,
              `subtle.deriveBits({ name: 'ECDH', public: other.publicKey }, mine, 128)`,
              `subtle.deriveBits({ name: 'ECDH', public: signing.publicKey }, mine, 128)`,
              `subtle.deriveBits({ name: 'ECDH', public: {} }, mine, 128)`,
              `subtle.deriveBits({ name: 'ECDH', public: theirPublic }, theirPublic, 128)`,
              `subtle.deriveBits({ name: 'ECDH', public: signing.publicKey }, signing.privateKey, 128)`,
              `subtle.importKey('raw', point, algorithm, true, [])`,
              `subtle.importKey('jwk', ${keys}[0], algorithm, true, [])`,
              `subtle.importKey('jwk', ${keys}[0], algorithm, true, ['sign'])`,
              `subtle.generateKey(algorithm, true, [])`,
            ])}`,
          ],
        ]
      }),
    ),
  )
})

describe('crypto.subtle wraps keys and reads what they permit as in Node', () => {
  testAsInNode(
    sandbox,
    helped([
      ...['raw', 'jwk'].map((format): Case => [
        `a key wrapped as ${format}`,
        `const wrapping = await subtle.importKey('raw', count(32), 'AES-GCM', false, ['wrapKey', 'unwrapKey'])
        const key = await subtle.importKey('raw', count(20), { name: 'HMAC', hash: 'SHA-256' }, true, ['sign'])
        const algorithm = { name: 'AES-GCM', iv: count(12) }
        const wrapped = await subtle.wrapKey('${format}', key, wrapping, algorithm)
        const unwrapped = await subtle.unwrapKey('${format}', wrapped, wrapping, algorithm, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
        return [${format === 'raw' ? 'hex(wrapped)' : `''`}, unwrapped.extractable, unwrapped.usages, hex(await subtle.sign('HMAC', unwrapped, utf8('a')))]`,
      ]),
      [
        'keys that may not be wrapped or wrap',
        `const wrapping = await subtle.importKey('raw', count(16), 'AES-CBC', false, ['wrapKey', 'unwrapKey'])
        const encrypting = await subtle.importKey('raw', count(16), 'AES-CBC', true, ['encrypt'])
        const fixed = await subtle.importKey('raw', count(16), 'AES-CBC', false, ['encrypt'])
        const algorithm = { name: 'AES-CBC', iv: count(16) }
        const text = await subtle.encrypt(algorithm, encrypting, utf8('no key'))
        ${each([
          `subtle.wrapKey('raw', fixed, wrapping, algorithm)`,
          `subtle.wrapKey('raw', encrypting, encrypting, algorithm)`,
          `subtle.unwrapKey('raw', count(32), encrypting, algorithm, 'AES-CBC', true, ['encrypt'])`,
          `subtle.unwrapKey('jwk', text, wrapping, algorithm, 'AES-CBC', true, ['encrypt'])`,
        ])}`,
      ],
      [
        'tags of AES-GCM of all lengths',
        `const key = await subtle.importKey('raw', count(16), 'AES-GCM', false, ['encrypt', 'decrypt'])
        const results = []
        for (const tagLength of [32, 64, 96, 104, 112, 120, 128, 8, 129, 0]) {
          for (const iv of [count(12), count(32)]) {
            const algorithm = { name: 'AES-GCM', iv, tagLength, additionalData: utf8('more') }
            ${each([
              `hex(await subtle.encrypt(algorithm, key, utf8('some data')))`,
              `hex(await subtle.decrypt(algorithm, key, await subtle.encrypt(algorithm, key, utf8('some data'))))`,
              `{ const data = new Uint8Array(await subtle.encrypt(algorithm, key, utf8('some data'))); data[data.length - 1] ^= 1; return subtle.decrypt(algorithm, key, data) }`,
              `{ const data = new Uint8Array(await subtle.encrypt(algorithm, key, utf8('some data'))); data[0] ^= 1; return subtle.decrypt(algorithm, key, data) }`,
              `subtle.decrypt(algorithm, key, count(2))`,
            ])
              .replace('const results = []', 'const some = []')
              .replaceAll('results.push', 'some.push')
              .replace('return results', 'results.push(some)')}
          }
        }
        return results`,
      ],
      [
        'a new key for everything',
        `return (await subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'])).usages`,
      ],
      [
        'keys that restrict their use',
        each(
          [
            '{ ext: false }',
            '{ use: "enc" }',
            '{ use: "sig" }',
            '{ key_ops: ["verify"] }',
            '{ key_ops: ["sign", "verify"] }',
          ].map(
            (members) =>
              `subtle.importKey('jwk', { kty: 'oct', k: 'AAAAAAAAAAA', ...${members} }, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']).then(({ usages }) => usages)`,
          ),
        ),
      ],
      [
        'keys of Ed25519 whose parts are missing or of another key',
        `const [one, other] = await Promise.all([1, 2].map(async () => subtle.exportKey('jwk', (await subtle.generateKey('Ed25519', true, ['sign', 'verify'])).privateKey)))
        ${each(
          ['{}', '{ x: undefined }', '{ x: other.x }', '{ alg: "EdDSA" }', '{ alg: "ES256" }'].map(
            (members) =>
              `subtle.importKey('jwk', { ...one, ...${members} }, 'Ed25519', true, ['sign']).then(async (key) => Object.keys(await subtle.exportKey('jwk', key)).toSorted())`,
          ),
        )}`,
      ],
      [
        'no bits',
        `const key = await subtle.importKey('raw', utf8('password'), 'HKDF', false, ['deriveBits'])
        ${each(
          ['0', '8', '12', 'null'].map(
            (length) =>
              `subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: utf8('salt'), info: utf8('') }, key, ${length}).then(hex)`,
          ),
        )}`,
      ],
    ]),
  )
})

describe('crypto.subtle signs and verifies as in Node', () => {
  const curves = [
    ['P-256', 'SHA-256'],
    ['P-384', 'SHA-384'],
    ['P-256', 'SHA-512'],
  ] as const
  const pairs = {
    'P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    Ed25519: generateKeyPairSync('ed25519'),
    RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  }
  const spki = (name: keyof typeof pairs) =>
    pairs[name].publicKey.export({ format: 'der', type: 'spki' }).toString('hex')
  const pkcs8 = (name: keyof typeof pairs) =>
    pairs[name].privateKey.export({ format: 'der', type: 'pkcs8' }).toString('hex')
  const jwk = (name: keyof typeof pairs, type: 'publicKey' | 'privateKey') =>
    JSON.stringify(pairs[name][type].export({ format: 'jwk' }))

  /** How each kind of key is used; signatures that differ each time are only verified. */
  const kinds = [
    ...curves.map(([curve, hash]) => ({
      title: `ECDSA on ${curve} with ${hash}`,
      pair: curve,
      algorithm: `{ name: 'ECDSA', namedCurve: '${curve}' }`,
      use: `{ name: 'ECDSA', hash: '${hash}' }`,
      isSame: false,
    })),
    { title: 'Ed25519', pair: 'Ed25519' as const, algorithm: `'Ed25519'`, use: `'Ed25519'`, isSame: true },
    ...hashes.map((hash) => ({
      title: `RSA with ${hash}`,
      pair: 'RSA' as const,
      algorithm: `{ name: 'RSASSA-PKCS1-v1_5', hash: '${hash}' }`,
      use: `'RSASSA-PKCS1-v1_5'`,
      isSame: true,
    })),
  ]

  testAsInNode(
    sandbox,
    helped([
      ...kinds.flatMap(({ title, pair, algorithm, use, isSame }): Case[] => [
        [
          `${title}: what it signed itself`,
          `const secret = await subtle.importKey('pkcs8', bytes('${pkcs8(pair)}'), ${algorithm}, false, ['sign']); const open = await subtle.importKey('spki', bytes('${spki(pair)}'), ${algorithm}, true, ['verify']); const signature = new Uint8Array(await subtle.sign(${use}, secret, utf8('data'))); const right = await subtle.verify(${use}, open, signature, utf8('data')); const wrong = await subtle.verify(${use}, open, signature, utf8('date')); signature[5] ^= 1; return [secret.type, secret.algorithm.name, open.type, open.usages, right, wrong, await subtle.verify(${use}, open, signature, utf8('data')), await subtle.verify(${use}, open, signature.slice(1), utf8('data')), ${isSame ? 'hex(signature)' : 'signature.length'}]`,
        ],
        [
          `${title}: keys as JSON`,
          `const secret = await subtle.importKey('jwk', ${jwk(pair, 'privateKey')}, ${algorithm}, false, ['sign']); const open = await subtle.importKey('jwk', ${jwk(pair, 'publicKey')}, ${algorithm}, true, ['verify']); return [secret.type, open.algorithm, await subtle.verify(${use}, open, await subtle.sign(${use}, secret, utf8('a')), utf8('a')), hex(await subtle.exportKey('spki', open)), { ...(await subtle.exportKey('jwk', open)), alg: 0 }]`,
        ],
      ]),
      ...(['P-256', 'P-384', 'Ed25519'] as const).map((name): Case => {
        const algorithm = name === 'Ed25519' ? `'Ed25519'` : `{ name: 'ECDSA', namedCurve: '${name}' }`
        return [
          `${name}: exported keys`,
          `const secret = await subtle.importKey('pkcs8', bytes('${pkcs8(name)}'), ${algorithm}, true, ['sign']); const open = await subtle.importKey('spki', bytes('${spki(name)}'), ${algorithm}, true, ['verify']); return [hex(await subtle.exportKey('pkcs8', secret)), hex(await subtle.exportKey('raw', open)), { ...(await subtle.exportKey('jwk', secret)), alg: 0 }]`,
        ]
      }),
      ...(['P-256', 'P-384', 'Ed25519'] as const).map((name): Case => {
        const algorithm = name === 'Ed25519' ? `'Ed25519'` : `{ name: 'ECDSA', namedCurve: '${name}' }`
        const use = name === 'Ed25519' ? `'Ed25519'` : `{ name: 'ECDSA', hash: 'SHA-256' }`
        return [
          `${name}: new keys`,
          `const { publicKey, privateKey } = await subtle.generateKey(${algorithm}, false, ['sign', 'verify']); const signature = await subtle.sign(${use}, privateKey, utf8('a')); return [publicKey.extractable, privateKey.extractable, publicKey.usages, privateKey.usages, privateKey.algorithm, await subtle.verify(${use}, publicKey, signature, utf8('a'))]`,
        ]
      }),
      [
        'a private key to verify with',
        `return subtle.importKey('pkcs8', bytes('${pkcs8('P-256')}'), { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])`,
      ],
      [
        'a key of another curve',
        `return subtle.importKey('pkcs8', bytes('${pkcs8('P-384')}'), { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])`,
      ],
      [
        'a key of another algorithm',
        `return subtle.importKey('spki', bytes('${spki('RSA')}'), 'Ed25519', false, ['verify'])`,
      ],
      [
        'a key that is cut off',
        `return subtle.importKey('spki', bytes('${spki('P-256').slice(0, -20)}'), { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])`,
      ],
      [
        'a point off its curve',
        `const point = new Uint8Array(65).fill(1); point[0] = 4; return subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])`,
      ],
      [
        'a JSON key of another kind',
        `return subtle.importKey('jwk', ${jwk('RSA', 'publicKey')}, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])`,
      ],
      ['a curve that there is not', `return subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-1' }, false, ['sign'])`],
    ]),
  )

  test.each(kinds)('$title: each verifies what the other signed', async ({ pair, algorithm, use }) => {
    const nodeKey = await subtle.importKey(
      'pkcs8',
      pairs[pair].privateKey.export({ format: 'der', type: 'pkcs8' }),
      evaluate(algorithm),
      false,
      ['sign'],
    )
    const signature = Buffer.from(await subtle.sign(evaluate(use), nodeKey, Buffer.from('data'))).toString('hex')
    const code = `${helpers}; exports.handler = async () => {
      const open = await subtle.importKey('spki', bytes('${spki(pair)}'), ${algorithm}, true, ['verify'])
      const secret = await subtle.importKey('pkcs8', bytes('${pkcs8(pair)}'), ${algorithm}, true, ['sign'])
      return [await subtle.verify(${use}, open, bytes('${signature}'), utf8('data')), hex(await subtle.sign(${use}, secret, utf8('data')))] }`
    const outcome = await sandbox().run(callRun(bot(code), {}, { limits: { cpuMilliseconds: 10_000 } }))
    const [verified, theirs] = (outcome as { result: unknown }).result as [boolean, string]
    expect(verified).toBe(true)
    const nodePublicKey = await subtle.importKey(
      'spki',
      pairs[pair].publicKey.export({ format: 'der', type: 'spki' }),
      evaluate(algorithm),
      false,
      ['verify'],
    )
    expect(await subtle.verify(evaluate(use), nodePublicKey, Buffer.from(theirs, 'hex'), Buffer.from('data'))).toBe(
      true,
    )
  })
})

describe('random numbers are as in Node', () => {
  testAsInNode(sandbox, [
    [
      'filled',
      `const bytes = new Uint8Array(100); return [crypto.getRandomValues(bytes) === bytes, new Set(bytes).size > 20]`,
    ],
    [
      'of all kinds of integers',
      `return [Int8Array, Uint8ClampedArray, Int16Array, Uint32Array, BigInt64Array, BigUint64Array].map((View) => crypto.getRandomValues(new View(9)).some((one) => one != 0))`,
    ],
    [
      'a part of a buffer',
      `const bytes = new Uint8Array(60); crypto.getRandomValues(bytes.subarray(20, 40)); return [bytes.slice(0, 20).every((one) => one === 0), bytes.slice(20, 40).some((one) => one > 0), bytes.slice(40).every((one) => one === 0)]`,
    ],
    ['not of fractions', `return crypto.getRandomValues(new Float64Array(2))`],
    ['not of views', `return crypto.getRandomValues(new DataView(new ArrayBuffer(2)))`],
    [
      'not more than 64 KB',
      `crypto.getRandomValues(new Uint8Array(65536)); return crypto.getRandomValues(new Uint8Array(65537))`,
    ],
    [
      'UUIDs',
      `const all = new Set(Array.from({ length: 50 }, () => crypto.randomUUID())); return [all.size, [...all].every((one) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(one))]`,
    ],
    ['their tag', `return Object.prototype.toString.call(crypto)`],
  ])
})
