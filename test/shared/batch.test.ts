import { expect, test } from 'vitest'
import { batched, batchedByLoad } from '#shared/batch.ts'

test('a call goes out at once, and those that come meanwhile go out together', async () => {
  const sent: number[][] = []
  const double = batched(async (inputs: number[]) => {
    sent.push(inputs)
    await Promise.resolve()
    return inputs.map((input) => input * 2)
  }, 3)
  const outputs = await Promise.all([1, 2, 3, 4, 5].map(double))
  expect(outputs).toEqual([2, 4, 6, 8, 10])
  expect(sent).toEqual([[1], [2, 3, 4], [5]])
  expect(await double(6)).toBe(12)
})

test('with an interval, calls soon after a batch go out together at its end, and a later one at once', async () => {
  const interval = 50
  const sent: { inputs: number[]; at: number }[] = []
  const double = batched(
    async (inputs: number[]) => {
      sent.push({ inputs, at: performance.now() })
      return inputs.map((input) => input * 2)
    },
    3,
    interval,
  )
  expect(await double(1)).toBe(2)
  const second = double(2)
  await new Promise((resolve) => setImmediate(resolve))
  expect(await Promise.all([second, double(3)])).toEqual([4, 6])
  expect(sent.map(({ inputs }) => inputs)).toEqual([[1], [2, 3]])
  // Timers drop the fraction of a millisecond, and may fire one early.
  expect(sent[1]!.at - sent[0]!.at).toBeGreaterThanOrEqual(interval - 2)
  await expect.poll(() => performance.now() - sent[1]!.at).toBeGreaterThan(interval)
  const last = double(4)
  expect(sent.map(({ inputs }) => inputs)).toEqual([[1], [2, 3], [4]])
  expect(await last).toBe(8)
})

test('one that cannot be done does not keep the others from it', async () => {
  const invert = batched(async (inputs: number[]) => {
    if (inputs.includes(0)) throw new RangeError('nothing to invert')
    return inputs.map((input) => 1 / input)
  }, 10)
  const results = await Promise.allSettled([1, 2, 0, 4].map(invert))
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason))).toEqual([
    1,
    0.5,
    new RangeError('nothing to invert'),
    0.25,
  ])
})

test('calls of a quiet bot go out at once, while a batch of a busy bot is in flight', async () => {
  const sent: string[][] = []
  const held = Promise.withResolvers<void>()
  let isHeld = false
  const act = batchedByLoad(
    async (bots: string[]) => {
      sent.push(bots)
      if (isHeld && bots.includes('busy')) await held.promise
      return bots
    },
    100,
    (bot) => bot,
  )
  for (let call = 0; call < 21; call++) await act('busy')
  isHeld = true
  sent.length = 0
  const busy = [act('busy'), act('busy')]
  expect(await Promise.all([act('quiet'), act('other')])).toEqual(['quiet', 'other'])
  expect(sent).toEqual([['busy'], ['quiet'], ['other']])
  held.resolve()
  expect(await Promise.all(busy)).toEqual(['busy', 'busy'])
})

test('concurrent calls of a bot keep their order when it becomes busy', async () => {
  const sent: number[] = []
  const act = batchedByLoad(
    async (calls: number[]) => {
      sent.push(...calls)
      await new Promise((resolve) => setImmediate(resolve))
      return calls
    },
    10,
    () => 'bot',
  )
  const calls = Array.from({ length: 100 }, (_, call) => call)
  expect(await Promise.all(calls.map(act))).toEqual(calls)
  expect(sent).toEqual(calls)
})
