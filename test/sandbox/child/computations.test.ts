import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Computations } from '#sandbox/child/computations.ts'
import { answerBytes } from '#sandbox/isolate/computing.ts'

/** What a realm reads when its request has been answered; `refused` for a refusal. */
async function answerTo(computations: Computations, request: string, data: unknown): Promise<string> {
  const header = new Int32Array(computations.memory, 0, 2)
  const answers = header[0]!
  computations.compute(request, data)
  await expect.poll(() => header[0]).toBe(answers + 1)
  const length = header[1]!
  if (length < 0) return 'refused'
  return Buffer.from(new Uint8Array(computations.memory, answerBytes, length).slice()).toString('hex')
}

const bytes = (text: string) => new TextEncoder().encode(text).buffer

describe('a request of a compromised isolate', () => {
  test.each<[request: string, data: unknown]>([
    ['', bytes('')],
    ['no such request', bytes('')],
    ['begin', bytes('')],
    ['begin shake256', bytes('')],
    ['begin __proto__', bytes('')],
    ['begin sha256', 'text'],
    ['begin sha256', { byteLength: 1 }],
    ['begin sha256', new ArrayBuffer(2 ** 20 + 1)],
    ['update 1', bytes('')],
    ['update constructor', bytes('')],
    ['copy 1', bytes('')],
    ['digest 1', bytes('')],
    ['pbkdf2', bytes('')],
    ['pbkdf2 toString 1 32 0', bytes('')],
    ['pbkdf2 sha256 0 32 0', bytes('')],
    ['pbkdf2 sha256 -1 32 0', bytes('')],
    ['pbkdf2 sha256 1.5 32 0', bytes('')],
    ['pbkdf2 sha256 Infinity 32 0', bytes('')],
    ['pbkdf2 sha256 1 1025 0', bytes('')],
    ['pbkdf2 sha256 1 0 0', bytes('')],
    ['pbkdf2 sha256 1000001 32 0', bytes('')],
    ['pbkdf2 sha256 500001 33 0', bytes('')],
    ['scrypt', bytes('')],
    ['scrypt 1000 8 1 32 0', bytes('')],
    ['scrypt 0 8 1 32 0', bytes('')],
    ['scrypt 16 0 1 32 0', bytes('')],
    ['scrypt 16 8 0 32 0', bytes('')],
    ['scrypt 0 1000000 1000000 32 0', bytes('')],
    ['scrypt 65536 8 1 32 0', bytes('')],
    ['scrypt 16384 8 3 32 0', bytes('')],
    ['scrypt 2 1 200000 1024 0', bytes('')],
  ])('%j with %j is refused', async (request, data) => {
    await expect(answerTo(new Computations(), request, data)).resolves.toBe('refused')
  })

  test('cannot begin more hashes than a realm may have, until one ends', async () => {
    const computations = new Computations()
    for (let count = 0; count < 64; count += 1) {
      await expect(answerTo(computations, 'begin sha256', bytes('a'))).resolves.not.toBe('refused')
    }
    await expect(answerTo(computations, 'begin sha256', bytes('a'))).resolves.toBe('refused')
    await expect(answerTo(computations, 'copy 7', bytes(''))).resolves.toBe('refused')
    const expected = createHash('sha256').update('ab').digest('hex')
    await expect(answerTo(computations, 'digest 7', bytes('b'))).resolves.toBe(expected)
    await expect(answerTo(computations, 'digest 7', bytes('b'))).resolves.toBe('refused')
    await expect(answerTo(computations, 'copy 8', bytes(''))).resolves.not.toBe('refused')
  })

  test('finds no hash of another realm', async () => {
    await answerTo(new Computations(), 'begin sha256', bytes('a'))
    await expect(answerTo(new Computations(), 'digest 1', bytes(''))).resolves.toBe('refused')
  })
})
