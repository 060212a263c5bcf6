import { createSign, createVerify, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { callRun, done, handlerThat } from '../fixture.ts'
import { sandboxOfFile, testAsInNode } from '../prelude/compare.ts'
import { certificate, signatureOfX } from './certificate.ts'

const sandbox = sandboxOfFile()

/** The result of a handler with this body, through JSON. */
async function told(body: string): Promise<unknown> {
  const code = `const crypto = require('crypto'); const value = await (async () => { ${body} })(); return { body: JSON.stringify({ value }) }`
  const { result } = done(await sandbox().run(callRun(handlerThat(code))))
  return (JSON.parse((result as { body: string }).body) as { value?: unknown }).value
}

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const
const spki = { type: 'spki', format: 'pem' } as const

const pairs = {
  'RSA, PKCS #8': generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: pkcs8,
    publicKeyEncoding: spki,
  }),
  'RSA, PKCS #1': generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }),
  'P-256, PKCS #8': generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: pkcs8,
    publicKeyEncoding: spki,
  }),
  'P-256, SEC 1': generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: spki,
  }),
  'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384', privateKeyEncoding: pkcs8, publicKeyEncoding: spki }),
}

describe('signatures', () => {
  test.each(Object.entries(pairs))('of %s are those of Node, both ways', async (_what, { privateKey, publicKey }) => {
    const given = createSign('RSA-SHA256').update('message').sign(privateKey, 'base64')
    const [signature, verified, refused] = (await told(`
      const signature = crypto.createSign('RSA-SHA256').update('mess').update('age').sign(${JSON.stringify(privateKey)}, 'base64')
      const verify = (text) => crypto.createVerify('RSA-SHA256').update(text).verify(${JSON.stringify(publicKey)}, '${given}', 'base64')
      return [signature, verify('message'), verify('massage')]`)) as [string, boolean, boolean]
    expect([verified, refused]).toEqual([true, false])
    expect(createVerify('RSA-SHA256').update('message').verify(publicKey, signature, 'base64')).toBe(true)
  })

  test('of Ed25519 are those of Node', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
      privateKeyEncoding: pkcs8,
      publicKeyEncoding: spki,
    })
    const expected = sign(null, Buffer.from('message'), privateKey).toString('hex')
    const made = await told(`
      const signature = crypto.sign(null, Buffer.from('message'), ${JSON.stringify(privateKey)})
      return [signature.toString('hex'), crypto.verify(null, Buffer.from('message'), crypto.createPublicKey(${JSON.stringify(publicKey)}), signature)]`)
    expect(made).toEqual([expected, true])
  })

  test('are verified with the key of a certificate', async () => {
    const body = `return crypto.createVerify('SHA256').update('x').verify(${JSON.stringify(certificate)}, '${signatureOfX}', 'base64')`
    expect(createVerify('SHA256').update('x').verify(certificate, signatureOfX, 'base64')).toBe(true)
    expect(await told(body)).toBe(true)
  })

  test('with a padding that is not supported say so', async () => {
    const body = `const { constants: { RSA_NO_PADDING: padding } } = crypto
      try { crypto.sign('sha256', Buffer.from('x'), { key: crypto.createPrivateKey(${JSON.stringify(pairs['RSA, PKCS #8'].privateKey)}), padding }) } catch (error) { return error.code }`
    expect(await told(body)).toBe('ERR_METHOD_NOT_IMPLEMENTED')
  })
})

const rsa = JSON.stringify(pairs['RSA, PKCS #8'].privateKey)
const ec = JSON.stringify(pairs['P-256, PKCS #8'].privateKey)

describe('the rest of crypto does what Node does', () => {
  testAsInNode(
    sandbox,
    [
      [
        'hashes',
        `const { createHash, hash } = require('crypto'); const digest = createHash('sha256').update('a'); const copy = digest.copy().update('b'); return [digest.digest('hex'), copy.digest('base64url'), hash('md5', 'x')]`,
      ],
      [
        'hashes of other families, and their names',
        `const { createHash } = require('crypto'); return ['ripemd160', 'RSA-SHA256', 'SHA-256', 'sha512-256', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512'].map((name) => createHash(name).update('a').digest('hex'))`,
      ],
      [
        'hashes and codes as streams',
        `const { createHash, createHmac } = require('crypto'); const { Readable, Transform } = require('stream'); const { pipeline } = require('stream/promises'); const { text } = require('stream/consumers'); const source = () => Readable.from([Buffer.from('a'), Buffer.from('b')]); const hash = createHash('md5'); await pipeline(source(), hash); const written = createHash('sha1'); written.write('ab'); written.end(); const events = await new Promise((resolve) => { const seen = []; source().pipe(createHmac('sha256', 'key')).on('data', (data) => seen.push(data.toString('hex'))).on('end', () => resolve(seen)) }); return [hash.digest('hex'), written.read().toString('hex'), events, await text(source().pipe(createHash('md5')).setEncoding('hex')), hash instanceof Transform]`,
      ],
      [
        'ciphers as streams, and those that fail',
        `const { createCipheriv, createDecipheriv } = require('crypto'); const { Readable } = require('stream'); const { pipeline } = require('stream/promises'); const key = Buffer.alloc(16, 1); const iv = Buffer.alloc(16, 2); const encrypted = Readable.from([Buffer.from('some '), Buffer.from('text')]).pipe(createCipheriv('aes-128-cbc', key, iv)); const seen = []; await pipeline(encrypted, createDecipheriv('aes-128-cbc', key, iv), async (parts) => { for await (const part of parts) seen.push(String(part)) }); const told = ({ message, code, reason }) => [message, code, reason]; const failing = createDecipheriv('aes-128-cbc', key, iv); const failed = await pipeline(Readable.from([Buffer.alloc(16, 3)]), failing, async (parts) => { for await (const part of parts); }).catch(told); const fail = (name, tag) => { const one = createDecipheriv(name, key, iv); if (tag) one.setAuthTag(tag); one.update(Buffer.alloc(15)); try { one.final() } catch (error) { return told(error) } }; return [seen.join(''), failed, fail('aes-128-cbc'), fail('aes-128-gcm', Buffer.alloc(16))]`,
      ],
      [
        'classes of hashes, and arguments of another type',
        `const crypto = require('crypto'); const failed = (work) => { try { return work() } catch (error) { return [error.name, error.code, error.message] } }; return [crypto.createHash('md5') instanceof crypto.Hash, crypto.createHmac('md5', '') instanceof crypto.Hmac, crypto.createHash('md5') instanceof crypto.Hmac, crypto.Hash('md5').update('a').digest('hex'), failed(() => crypto.createHash()), failed(() => crypto.createHmac('md5')), failed(() => crypto.createHash('md5').update(5)), failed(() => crypto.createHash('md5').update()), (() => { const code = crypto.createHmac('md5', 'k').update('a'); return [code.digest('hex'), code.digest('hex')] })()]`,
      ],
      [
        'message authentication with a secret key',
        `const { createHmac, createSecretKey } = require('crypto'); return createHmac('sha256', createSecretKey(Buffer.from('secret'))).update('x').digest('hex')`,
      ],
      [
        'keys of RSA',
        `const { createPrivateKey, createPublicKey } = require('crypto'); const key = createPrivateKey(${rsa}); const open = createPublicKey(key); return [key.type, key.asymmetricKeyType, open.export({ type: 'spki', format: 'pem' }), open.export({ type: 'pkcs1', format: 'der' }), key.export({ type: 'pkcs1', format: 'pem' }), open.export({ format: 'jwk' }), open.asymmetricKeyDetails.modulusLength]`,
      ],
      [
        'keys of curves',
        `const { createPrivateKey, createPublicKey } = require('crypto'); const key = createPrivateKey(${ec}); return [createPublicKey(key).export({ type: 'spki', format: 'pem' }), createPublicKey(${ec}).export({ format: 'jwk' }), key.export({ type: 'sec1', format: 'pem' }), key.asymmetricKeyDetails]`,
      ],
      [
        'JSON Web Keys',
        `const { createPublicKey, createPrivateKey } = require('crypto'); const jwk = createPublicKey(${rsa}).export({ format: 'jwk' }); const secret = createPrivateKey(${rsa}).export({ format: 'jwk' }); return [createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }), createPrivateKey({ key: secret, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' })]`,
      ],
      [
        'derived keys',
        `const { pbkdf2Sync, hkdfSync, scryptSync, pbkdf2 } = require('crypto'); return [pbkdf2Sync('p', 's', 10, 20, 'sha512').toString('hex'), Buffer.from(hkdfSync('sha256', 'k', 's', 'i', 10)).toString('hex'), scryptSync('p', 's', 16, { N: 16 }).toString('hex'), await new Promise((resolve) => pbkdf2('p', 's', 1, 8, 'sha1', (error, key) => resolve(key.toString('hex'))))]`,
      ],
      [
        'ciphers',
        `const { createCipheriv, createDecipheriv } = require('crypto'); const [key, iv] = [Buffer.alloc(32, 1), Buffer.alloc(16, 2)]; return ['aes-256-cbc', 'aes-256-ctr'].map((name) => { const cipher = createCipheriv(name, key, iv); const text = cipher.update('hello wörld', 'utf8', 'hex') + cipher.final('hex'); const decipher = createDecipheriv(name, key, iv); return [text, decipher.update(text, 'hex', 'utf8') + decipher.final('utf8')] })`,
      ],
      [
        'authenticated ciphers',
        `const { createCipheriv, createDecipheriv } = require('crypto'); const [key, iv] = [Buffer.alloc(16, 1), Buffer.alloc(12, 2)]; const cipher = createCipheriv('aes-128-gcm', key, iv).setAAD(Buffer.from('x')); const data = Buffer.concat([cipher.update('secret'), cipher.final()]); const tag = cipher.getAuthTag(); const open = (given) => { const decipher = createDecipheriv('aes-128-gcm', key, iv).setAAD(Buffer.from('x')).setAuthTag(given); try { return Buffer.concat([decipher.update(data), decipher.final()]).toString() } catch { return 'refused' } }; return [data.toString('hex'), tag.toString('hex'), open(tag), open(Buffer.alloc(16))]`,
      ],
      [
        'a cipher with a wrong key',
        `try { require('crypto').createCipheriv('aes-256-cbc', Buffer.alloc(1), Buffer.alloc(16)) } catch (error) { return error.code }`,
      ],
      [
        'random values',
        `const crypto = require('crypto'); return [crypto.randomBytes(70_000).length, crypto.randomFillSync(new Uint8Array(4)).length, crypto.randomInt(1), Number.isInteger(crypto.randomInt(0, 1e11)), crypto.randomInt(2 ** 48 - 1) >= 0, crypto.randomInt(-5, -4), ...[[2 ** 48], [-1, 2 ** 48 - 1], [5, 5], [1.5], ['a']].map((range) => { try { return crypto.randomInt(...range) } catch (error) { return [error.name, error.code] } }), /^[0-9a-f-]{36}$/.test(crypto.randomUUID())]`,
      ],
    ],
    'sdk',
  )
})
