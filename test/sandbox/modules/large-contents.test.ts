import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { callRun, done, handlerThat } from '../fixture.ts'
import { sandboxOfFile, testAsInNode } from '../prelude/compare.ts'

const sandbox = sandboxOfFile()

/** Code before each case: contents of every byte, and what a hash says of parts of these. */
const given = `
  const crypto = require('crypto')
  const content = (length) => Buffer.from({ length: Math.min(length, 65536) }, (_, index) => index * 7 + (index >> 8))
  const large = (length) => Buffer.concat(Array.from({ length: Math.ceil(length / 65536) }, () => content(65536))).subarray(0, length)
  const hashed = (name, parts) => parts.reduce((hash, part) => hash.update(part), crypto.createHash(name)).digest('hex')
`

const hashes = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'RSA-SHA256', 'ripemd160', 'sha3-256']

describe('large contents', () => {
  testAsInNode(
    sandbox,
    [
      ...hashes.map(
        (name) =>
          [`have the ${name} that they have in Node`, `${given} return hashed('${name}', [content(20000)])`] as const,
      ),
      [
        'of sizes around those at which they cross',
        `${given} return [4095, 4096, 4097, 2 ** 20 - 4096, 2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 3 * 2 ** 20 + 5].map((size) => hashed('sha256', [large(size)]))`,
      ],
      [
        'in parts of every size',
        `${given}
        const whole = large(3 * 2 ** 20)
        const sizes = [1, 4000, 95, 1, 5000, 100, 0, 4095, 2 ** 20, 17, 2 ** 20 + 4096]
        let at = 0
        const parts = sizes.map((size) => whole.subarray(at, (at += size)))
        return [hashed('sha256', parts), hashed('sha512', parts), hashed('md5', [...parts].reverse())]`,
      ],
      [
        'in parts that change after they were given',
        `${given}
        const part = Buffer.alloc(3000, 1)
        const hash = crypto.createHash('sha256')
        for (let round = 0; round < 5; round += 1) {
          hash.update(part)
          part.fill(round + 2)
        }
        return hash.digest('hex')`,
      ],
      [
        'as views of a part of their buffer, as text and as arrays of numbers',
        `${given}
        const bytes = content(30000)
        const view = new DataView(bytes.buffer, bytes.byteOffset + 5000, 20000)
        const numbers = new Float64Array(2000).fill(Math.PI)
        return [[bytes.subarray(7, 29000)], [view], [numbers], ['äöü€'.repeat(5000)]].map((parts) => hashed('sha1', parts))`,
      ],
      [
        'with copies of a hash that continue on their own',
        `${given}
        const hash = crypto.createHash('sha256').update(content(10000))
        const copy = hash.copy()
        hash.update('a')
        copy.update(content(5000))
        const second = copy.copy()
        return [hash.digest('hex'), copy.digest('hex'), second.update('b').digest('hex')]`,
      ],
      [
        'with HMAC, with keys of every length',
        `${given}
        return [1, 64, 65, 128, 129, 10000].map((length) =>
          ['md5', 'sha256', 'sha512'].map((name) => crypto.createHmac(name, content(length)).update(content(9000)).update('end').digest('hex')))`,
      ],
      [
        'through a stream',
        `${given}
        const { pipeline } = require('stream/promises')
        const { Readable } = require('stream')
        const hash = crypto.createHash('sha256')
        await pipeline(Readable.from([content(5000), content(60000), content(3)]), hash)
        return hash.digest('hex')`,
      ],
      [
        'with one function',
        `${given} return [crypto.hash('sha256', content(50000)), crypto.hash('md5', 'x'.repeat(5000), 'base64')]`,
      ],
      [
        'in crypto.subtle',
        `${given}
        const key = await crypto.subtle.importKey('raw', content(32), { name: 'HMAC', hash: 'SHA-384' }, false, ['sign', 'verify'])
        const signature = await crypto.subtle.sign('HMAC', key, content(20000))
        return [
          ...(await Promise.all(['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'].map((name) => crypto.subtle.digest(name, content(20000))))),
          signature,
          await crypto.subtle.verify('HMAC', key, signature, content(20000)),
          await crypto.subtle.verify('HMAC', key, signature, content(19999)),
        ]`,
      ],
      [
        'in crypto.subtle beside crypto, whose hashes are begun and not ended meanwhile',
        `${given}
        const hash = crypto.createHash('sha256').update(content(9000))
        const digest = await crypto.subtle.digest('SHA-256', content(8000))
        return [digest, hash.digest('hex')]`,
      ],
    ],
    'sdk',
  )
})

describe('keys of passwords', () => {
  testAsInNode(
    sandbox,
    [
      [
        'are those of Node, with few and many iterations',
        `${given}
        return [[1, 20], [4096, 32], [4096, 100], [600000, 32]].map(([iterations, length]) =>
          crypto.pbkdf2Sync('pässword', content(16), iterations, length, 'sha256').toString('hex'))`,
      ],
      [
        'with every hash, and without a password or a salt',
        `${given}
        return ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha3-256', 'ripemd160'].map((name) =>
          [['secret', 'salt'], ['', 'salt'], ['secret', '']].map(([password, salt]) => crypto.pbkdf2Sync(password, salt, 3, 70, name).toString('hex')))`,
      ],
      [
        'called back, and in crypto.subtle',
        `${given}
        const { promisify } = require('util')
        const key = await crypto.subtle.importKey('raw', content(8), 'PBKDF2', false, ['deriveBits'])
        const parameters = { name: 'PBKDF2', hash: 'SHA-512', salt: content(16), iterations: 100000 }
        return [await promisify(crypto.pbkdf2)('a', 'b', 100000, 64, 'sha512'), await crypto.subtle.deriveBits(parameters, key, 256)]`,
      ],
      [
        'by scrypt with its usual cost, and with others',
        `${given}
        const { promisify } = require('util')
        return [
          crypto.scryptSync('password', content(16), 64),
          await promisify(crypto.scrypt)('password', 'salt', 32, { N: 1024, r: 4, p: 3 }),
          crypto.scryptSync('', '', 16, { cost: 16, blockSize: 1, parallelization: 1 }),
        ]`,
      ],
      [
        'are refused for parameters that make no sense',
        `${given}
        const tries = [
          () => crypto.pbkdf2Sync('a', 'b', 0, 32, 'sha256'),
          () => crypto.pbkdf2Sync('a', 'b', 1.5, 32, 'sha256'),
          () => crypto.pbkdf2Sync('a', 'b', '7', 32, 'sha256'),
          () => crypto.pbkdf2Sync('a', 'b', 7, 32, 'no such hash'),
          () => crypto.scryptSync('a', 'b', 32, { N: 1000 }),
          () => crypto.scryptSync('a', 'b', 32, { N: '16' }),
        ]
        return tries.map((attempt) => {
          try {
            return attempt()
          } catch {
            return 'refused'
          }
        })`,
      ],
    ],
    'sdk',
  )
})

test('hashes that are begun and never ended leave later ones right', async () => {
  const code = `
    const crypto = require('crypto')
    const content = Buffer.alloc(5000, 7)
    for (let count = 0; count < 300; count += 1) crypto.createHash('sha256').update(content)
    return { body: crypto.createHash('sha256').update(content).digest('hex') }`
  const { result } = done(await sandbox().run(callRun(handlerThat(code))))
  expect(result).toMatchObject({ body: createHash('sha256').update(Buffer.alloc(5000, 7)).digest('hex') })
})

test('a hash that the bundle computes while it loads is right', async () => {
  const code = `return { body: early }`
  const bundle = handlerThat(code)
  bundle.code = `const early = require('crypto').createHash('sha256').update('x'.repeat(100000)).digest('hex')\n${bundle.code}`
  const { result } = done(await sandbox().run(callRun(bundle)))
  expect(result).toMatchObject({ body: createHash('sha256').update('x'.repeat(100_000)).digest('hex') })
})
