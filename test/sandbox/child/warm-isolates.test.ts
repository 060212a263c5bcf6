import { describe, expect, onTestFinished, test } from 'vitest'
import { residentKilobytes } from '#sandbox/isolation/memory.ts'
import { bot, callRun, done, openTestSandbox, patientHost, type TestSandbox } from '../fixture.ts'

async function openSmallSandbox(memoryMegabytes: number): Promise<TestSandbox> {
  const sandbox = await openTestSandbox({ memoryMegabytes })
  onTestFinished(() => sandbox.close())
  return sandbox
}

/** A bot that counts the runs of its isolate. */
const counter = (holding = '') =>
  bot(`const held = [${holding}]; let count = 0; exports.handler = async ({ client }) => {
    await client.createMessage({})
    return (count += 1)
  }`)

/** Holds as much as a bundle of the SDK does. */
const large = 'new Uint8Array(12e6).fill(1)'

async function countIn(sandbox: TestSandbox, bundle: ReturnType<typeof bot>): Promise<unknown> {
  return done(await sandbox.run(callRun(bundle))).result
}

describe('idle isolates', () => {
  test('are given up when there are too many, the one used longest ago first', async () => {
    const sandbox = await openSmallSandbox(110)
    const [first, forgotten, ...others] = Array.from({ length: 60 }, () => counter())
    expect([await countIn(sandbox, first!), await countIn(sandbox, forgotten!)]).toEqual([1, 1])
    for (const [index, bundle] of others.entries()) {
      expect(await countIn(sandbox, bundle)).toBe(1)
      expect(await countIn(sandbox, first!)).toBe(index + 2)
    }
    expect(await countIn(sandbox, others.at(-1)!)).toBe(2)
    expect(await countIn(sandbox, forgotten!)).toBe(1)
  })

  test('are given up when they fill the process, which goes on, and none of their neighbours fails', async () => {
    const sandbox = await openSmallSandbox(200)
    const pid = sandbox.pid()
    const { host, calls, answer } = patientHost()
    const busy = counter()
    const running = sandbox.run(callRun(busy, {}, { host }))
    await expect.poll(() => calls.length, { timeout: 20_000 }).toBe(1)
    const first = counter(large)
    expect(await countIn(sandbox, first)).toBe(1)
    for (let index = 0; index < 25; index += 1) {
      const bundle = counter(large)
      expect(await countIn(sandbox, bundle)).toBe(1)
      expect(await countIn(sandbox, bundle)).toBe(2)
    }
    expect(await countIn(sandbox, first)).toBe(1)
    expect(residentKilobytes(pid)).toBeLessThan(300 * 1024)

    // One that is not idle is kept, however long ago its run began.
    answer(0)
    expect(done(await running).result).toBe(1)
    expect(await countIn(sandbox, busy)).toBe(2)
    expect(sandbox.pid()).toBe(pid)
  })
})
