import { describe } from 'vitest'
import { sandboxOfFile, testAsInNode, type Case } from '../prelude/compare.ts'

/** The output of ciphers, part by part: programs use that of `update` and leave that of `final`, or the other way round. */

const sandbox = sandboxOfFile()

const helpers = `const { createCipheriv, createDecipheriv } = require('crypto')
const count = (length) => Buffer.from(Array.from({ length }, (_, index) => (index * 7) % 251))
const inParts = (cipher, data, sizes, input, output) => {
  const parts = []
  let at = 0
  for (const size of sizes) { parts.push(cipher.update(data.subarray(at, at + size), input, output)); at += size }
  parts.push(cipher.update(data.subarray(at), input, output))
  return parts
}
const failed = (work) => { try { return work() } catch (error) { return [error.name, error.code ?? null, error.message] } }
`

const ciphers = [
  ...[128, 192, 256].flatMap((bits) => ['cbc', 'ctr', 'ecb', 'gcm'].map((mode) => `aes-${bits}-${mode}`)),
  'chacha20-poly1305',
  'des-ede3-cbc',
  'des-ede3',
]

function lengthsOf(name: string): string {
  const keyBytes = name.startsWith('aes') ? Number(name.slice(4, 7)) / 8 : name.startsWith('des') ? 24 : 32
  const ivBytes = /ecb|ede3$/.test(name) ? 0 : /gcm|poly/.test(name) ? 12 : name.startsWith('des') ? 8 : 16
  return `const key = count(${keyBytes}); const iv = ${ivBytes} ? count(${ivBytes}) : null`
}

const isAuthenticated = (name: string) => /gcm|poly/.test(name)

describe('ciphers give their output part by part as in Node', () => {
  testAsInNode(
    sandbox,
    [
      ...ciphers.map((name): Case => [
        name,
        `${helpers}${lengthsOf(name)}
        const options = ${isAuthenticated(name) ? '{ authTagLength: 16 }' : 'undefined'}
        const results = []
        for (const length of [0, 1, 15, 16, 17, 64, 100]) for (const sizes of [[], [1], [16], [5, 40], [0, 32], [70]]) {
          const data = count(length)
          const cipher = createCipheriv('${name}', key, iv, options)
          ${isAuthenticated(name) ? `cipher.setAAD(count(21), { plaintextLength: length })` : ''}
          const parts = inParts(cipher, data, sizes)
          const last = cipher.final()
          const sealed = Buffer.concat([...parts, last])
          const decipher = createDecipheriv('${name}', key, iv, options)
          ${isAuthenticated(name) ? `decipher.setAAD(count(21), { plaintextLength: length }); decipher.setAuthTag(cipher.getAuthTag())` : ''}
          const opened = inParts(decipher, sealed, sizes)
          results.push([parts.map((part) => part.length), last.length, sealed.toString('hex'), ${isAuthenticated(name) ? `cipher.getAuthTag().toString('hex'),` : ''} opened.map((part) => part.toString('hex')), decipher.final().toString('hex')])
        }
        return results`,
      ]),
      [
        'vectors of any length, and counters that overflow',
        `${helpers}const results = []
        for (const iv of [count(1), count(13), count(16), Buffer.alloc(16, 255), count(60)]) {
          const cipher = createCipheriv('aes-128-gcm', count(16), iv)
          results.push([inParts(cipher, count(90), [20, 3]).map((part) => part.toString('hex')), cipher.final().length, cipher.getAuthTag().toString('hex')])
        }
        const counting = createCipheriv('aes-256-ctr', count(32), Buffer.alloc(16, 255))
        return [...results, inParts(counting, count(70), [20, 3]).map((part) => part.toString('hex'))]`,
      ],
      [
        'texts of parts',
        `${helpers}const text = 'Grüße, 世界! 👋🏽 ' .repeat(5)
        return ['hex', 'base64', 'base64url', 'latin1'].map((encoding) => {
          const cipher = createCipheriv('aes-128-cbc', count(16), count(16))
          const sealed = [...text].map((letter) => cipher.update(letter, 'utf8', encoding)).join('') + cipher.final(encoding)
          const decipher = createDecipheriv('aes-128-cbc', count(16), count(16))
          return [sealed, decipher.update(sealed, encoding, 'utf8') + decipher.final('utf8') === text]
        })`,
      ],
      [
        'texts whose letters are cut',
        `${helpers}const open = (encoding) => { const cipher = createCipheriv('aes-128-ctr', count(16), count(16)); const sealed = cipher.update('ä€👋', encoding); const decipher = createDecipheriv('aes-128-ctr', count(16), count(16)); return [...sealed].map((octet) => decipher.update(Buffer.from([octet]), null, encoding)).concat(decipher.final(encoding)) }
        return open('utf8')`,
      ],
      [
        'data without padding',
        `${helpers}const make = (length) => { const cipher = createCipheriv('aes-128-cbc', count(16), count(16)); cipher.setAutoPadding(false); const part = cipher.update(count(length)); return failed(() => [part.length, cipher.final().length]) }
        const sealed = createCipheriv('aes-128-cbc', count(16), count(16)).update(count(32))
        const decipher = createDecipheriv('aes-128-cbc', count(16), count(16)).setAutoPadding(false)
        return [make(32), make(33), make(0), decipher.update(sealed).toString('hex'), decipher.final().length]`,
      ],
      [
        'padding and tags that are wrong',
        `${helpers}const cipher = createCipheriv('aes-128-gcm', count(16), count(12)); const sealed = Buffer.concat([cipher.update('text'), cipher.final()])
        const open = (tag) => { const decipher = createDecipheriv('aes-128-gcm', count(16), count(12)); if (tag) decipher.setAuthTag(tag); const part = decipher.update(sealed).toString(); return [part, failed(() => decipher.final().length)] }
        const blocks = createDecipheriv('aes-128-cbc', count(16), count(16)); blocks.update(count(32))
        const tag = cipher.getAuthTag(); const changed = Buffer.from(tag); changed[15] ^= 1
        return [open(tag), open(changed), open(), failed(() => blocks.final())]`,
      ],
      [
        'short tags',
        `${helpers}const options = { authTagLength: 12 }; const cipher = createCipheriv('aes-128-gcm', count(16), count(12), options); const sealed = Buffer.concat([cipher.update('text'), cipher.final()])
        const decipher = createDecipheriv('aes-128-gcm', count(16), count(12), options).setAuthTag(cipher.getAuthTag())
        return [cipher.getAuthTag().length, decipher.update(sealed, null, 'utf8') + decipher.final('utf8'), failed(() => createDecipheriv('aes-128-gcm', count(16), count(12), options).setAuthTag(Buffer.alloc(16)))[1], failed(() => createCipheriv('aes-128-gcm', count(16), count(12), { authTagLength: 3 }))[1]]`,
      ],
      [
        'calls out of order',
        `${helpers}const cipher = createCipheriv('aes-128-gcm', count(16), count(12)); const early = failed(() => cipher.getAuthTag())[1]; cipher.update('a'); cipher.final()
        return [early, failed(() => cipher.update('a'))[0], failed(() => cipher.final())[1]]`,
      ],
    ],
    'sdk',
  )
})
