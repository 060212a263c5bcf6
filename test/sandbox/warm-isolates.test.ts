import { afterAll, beforeAll, expect, test } from 'vitest'
import { bot, callRun, done, openTestSandbox, type TestSandbox } from './fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** Holds as much as a bundle of the SDK does. */
const large = `const held = new Uint8Array(12e6).fill(1); let count = 0; exports.handler = () => ({ count: (count += held[0]) })`

test('a process whose idle isolates fill it lets the oldest go, and none of their neighbours fails', async () => {
  const pid = sandbox.pid()
  const first = bot(large)
  expect(done(await sandbox.run(callRun(first))).result).toEqual({ count: 1 })
  for (let index = 0; index < 45; index += 1) {
    const bundle = bot(large)
    expect(done(await sandbox.run(callRun(bundle))).result).toEqual({ count: 1 })
    expect(done(await sandbox.run(callRun(bundle))).result).toEqual({ count: 2 })
  }
  expect(done(await sandbox.run(callRun(first))).result).toEqual({ count: 1 })
  expect(sandbox.pid()).toBe(pid)
})
