import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { writeParts } from '#shared/store/parts.ts'

async function* chunks(...sizes: number[]): AsyncGenerator<Buffer> {
  let value = 0
  for (const size of sizes) yield Buffer.from(Array.from({ length: size }, () => value++ % 256))
}

async function* failing() {
  yield Buffer.alloc(20)
  throw new Error('the client has gone')
}

const counted = (size: number) => Buffer.from(Array.from({ length: size }, (_, index) => index % 256))

test.each([
  ['nothing', [], 0],
  ['less than a part', [3, 4], 1],
  ['exactly one part', [6, 4], 1],
  ['one byte more than a part', [11], 2],
  ['chunks of several parts', [35, 1, 0, 24], 6],
])('a stream of %s is written whole, in parts of equal size', async (_, sizes, expected) => {
  const written: Buffer[] = []
  const parts = await writeParts(chunks(...sizes), 10, async (part, bytes) => {
    expect(part).toBe(written.length)
    written.push(Buffer.from(bytes))
  })
  expect(parts).toBe(expected)
  expect(written.slice(0, -1).every((bytes) => bytes.length === 10)).toBe(true)
  expect(Buffer.concat(written)).toEqual(counted(sizes.reduce((sum, size) => sum + size, 0)))
})

test('a part is written while the next one is collected, and the sender waits before the one after that', async () => {
  let taken = 0
  let writes = 0
  const { promise: release, resolve } = Promise.withResolvers<void>()
  async function* endless() {
    for (; taken < 100; taken += 1) yield Buffer.alloc(10)
  }
  const writing = writeParts(endless(), 10, async () => {
    writes += 1
    await release
  })
  for (let turns = 0; turns < 20; turns += 1) await turn()
  expect({ taken, writes }).toEqual({ taken: 1, writes: 1 })
  resolve()
  expect(await writing).toBe(100)
})

test('the failure of a write or of the stream is thrown after the write in flight has ended', async () => {
  await expect(
    writeParts(chunks(10, 10, 10), 10, async (part) => {
      if (part === 1) throw new Error('the disk is full')
    }),
  ).rejects.toThrow('the disk is full')

  let isOver = false
  const write = async () => {
    await turn()
    isOver = true
  }
  await expect(writeParts(failing(), 10, write)).rejects.toThrow('the client has gone')
  expect(isOver).toBe(true)
})
