import { expect, test } from 'vitest'
import { batched } from '#shared/batch.ts'

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
