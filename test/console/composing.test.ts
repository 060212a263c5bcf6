import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openComposing } from '../../console/widget/frame/composing.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open() {
  const heard: boolean[] = []
  return { heard, ...openComposing((isTyping) => void heard.push(isTyping)) }
}

test('an author is shown until the given time is over, and the page hears of the beginning and the end alone', () => {
  const { author, start, heard } = open()
  start({ userId: 'anna' }, 1000)
  vi.advanceTimersByTime(900)
  start({ userId: 'anna' }, 1000)
  vi.advanceTimersByTime(999)
  expect(author.value).toEqual({ userId: 'anna' })
  expect(heard).toEqual([true])
  vi.advanceTimersByTime(1)
  expect(author.value).toBeUndefined()
  expect(heard).toEqual([true, false])
})

test('the time of an author who was hidden, as by another conversation, does not hide the next one', () => {
  const { author, start, stop } = open()
  start({}, 1000)
  stop()
  start({}, 5000)
  vi.advanceTimersByTime(4999)
  expect(author.value).toEqual({})
})

test('a bot that stops hides no person, and a person who stops hides no other one', () => {
  const { author, start, stop } = open()
  start({ userId: 'anna' })
  stop({})
  stop({ userId: 'ben' })
  expect(author.value).toEqual({ userId: 'anna' })
  stop({ userId: 'anna' })
  expect(author.value).toBeUndefined()
})
