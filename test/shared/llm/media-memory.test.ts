import { expect, test } from 'vitest'
import { holdGrowing, MediaMemory, OverMemoryError } from '#shared/llm/media-memory.ts'
import { megabyte } from '#shared/units.ts'

const hold = (memory: MediaMemory, botId: string, megabytes: number) => {
  const share = memory.open(botId)
  share.add(megabytes * megabyte)
  return share
}

test('one bot cannot take all of the memory for audio, nor all bots more than there is', () => {
  const memory = new MediaMemory()
  hold(memory, 'one', 60)
  expect(() => hold(memory, 'one', 5)).toThrow('try again in a moment')
  hold(memory, 'two', 60)
  expect(() => hold(memory, 'three', 9)).toThrow('try again in a moment')
  hold(memory, 'three', 8)
})

test('a share that is disposed of is free again, once', () => {
  const memory = new MediaMemory()
  const share = hold(memory, 'one', 64)
  share[Symbol.dispose]()
  share[Symbol.dispose]()
  hold(memory, 'one', 64)
  expect(() => hold(memory, 'one', 1)).toThrow('try again in a moment')
})

test('answers of the attempts of a call follow one another: the largest counts, and no less than a usual one', () => {
  const memory = new MediaMemory()
  using share = memory.open('one')
  const holdAnswer = holdGrowing(share, 4 * megabyte)
  expect(() => hold(memory, 'one', 61)).toThrow('try again')
  holdAnswer(megabyte)
  holdAnswer(20 * megabyte)
  holdAnswer(10 * megabyte)
  hold(memory, 'one', 44)
  expect(() => holdAnswer(21 * megabyte)).toThrow(OverMemoryError)
})
