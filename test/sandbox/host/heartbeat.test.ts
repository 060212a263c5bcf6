import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Heartbeat } from '#sandbox/host/heartbeat.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The seconds until a process counts as dead that answers nothing; undefined while it does not within a minute. */
function secondsUntilMissed(processorWait: () => number | undefined): number | undefined {
  const begun = Date.now()
  let missedAfter: number | undefined
  const heartbeat: Heartbeat = new Heartbeat({
    softBytes: 1,
    processorWait,
    ask() {},
    missed() {
      missedAfter = (Date.now() - begun) / 1000
      heartbeat.stop()
    },
  })
  heartbeat.start()
  vi.advanceTimersByTime(60_000)
  heartbeat.stop()
  return missedAfter
}

test('a process that does not answer is dead after five seconds', () => {
  expect(secondsUntilMissed(() => undefined)).toBe(5)
  expect(secondsUntilMissed(() => 0)).toBe(5)
})

test('a process that waits for a processor meanwhile has half a minute', () => {
  expect(secondsUntilMissed(() => Date.now() * 0.9)).toBe(31)
})

test('a process that has a processor most of the time is dead after five seconds', () => {
  expect(secondsUntilMissed(() => Date.now() * 0.3)).toBe(5)
})

test('a process that answers late, after it got a processor, is not dead', () => {
  const missed = vi.fn<() => void>()
  const heartbeat = new Heartbeat({ softBytes: 1, processorWait: () => Date.now(), ask() {}, missed })
  heartbeat.start()
  for (let round = 0; round < 5; round++) {
    vi.advanceTimersByTime(20_000)
    expect(heartbeat.answered(0)).toBe(true)
  }
  expect(missed).not.toHaveBeenCalled()
  heartbeat.stop()
})
