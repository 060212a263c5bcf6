import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { KernelRun } from '../../../sandbox/isolate/run.ts'
import type { Timers } from '../../../sandbox/isolate/timers.ts'

/** The clock of the isolate: the kernel keeps `Date.now` as it is when it loads. */
const clock = vi.hoisted(() => {
  const { now } = Date
  const hoisted = { at: 1_000_000, restore: () => void (Date.now = now) }
  Date.now = () => hoisted.at
  return hoisted
})
afterAll(() => clock.restore())

const { createTimers } = await import('../../../sandbox/isolate/timers.ts')

let run: KernelRun
let timers: Timers
/** The kernel's messages to the host, with the time of each timer. */
let posted: string[]
let fired: string[]

beforeEach(() => {
  run = { id: 'run', ended: false, shared: { timers: 0 }, limits: { timers: 64 } } as unknown as KernelRun
  posted = []
  fired = []
  timers = createTimers(
    () => run,
    (kind, _run, first) => void posted.push(first === '' ? kind : `${kind} ${first}`),
  )
})

/** Sets a timer, and returns a function that clears it. */
function set(name: string, milliseconds: number): () => void {
  const id = timers.globals.setTimeout(() => fired.push(name), milliseconds)
  return () => timers.globals.clearTimeout(id)
}

/** Lets time pass, and has the host report the time it was told last. */
function pass(milliseconds: number): void {
  clock.at += milliseconds
  posted = []
  timers.fire(run)
}

describe('the host is told of timers', () => {
  test('once, for time limits that are cleared one after the other', () => {
    for (let request = 0; request < 100; request++) {
      const clear = set('limit', 60_000)
      if (request === 0) timers.arm(run)
      clock.at += 5
      clear()
    }
    expect(posted).toEqual(['timers', 'timer 60000'])
    expect(run.shared.timers).toBe(0)
  })

  test('again, for one that is due earlier, and then for the later one', () => {
    set('late', 5000)
    timers.arm(run)
    set('early', 10)
    timers.arm(run)
    expect(posted).toEqual(['timers', 'timer 5000', 'timers', 'timer 10'])
    pass(10)
    expect([fired, posted]).toEqual([['early'], ['timer 4990']])
    pass(4990)
    expect(fired).toEqual(['early', 'late'])
  })

  test('in one turn, however many one turn sets, each earlier than the one before', () => {
    for (let milliseconds = 60; milliseconds > 0; milliseconds--) set('', milliseconds)
    timers.arm(run)
    expect(posted).toEqual(['timers', 'timer 1'])
  })

  test('after the time of one that was cleared, for the next', () => {
    const clear = set('cleared', 100)
    timers.arm(run)
    set('kept', 300)
    clear()
    pass(100)
    expect([fired, posted]).toEqual([[], ['timer 200']])
  })
})

test('timers that are due together fire in the order in which they were set, each in a turn of its own', () => {
  for (const name of ['a', 'b', 'c']) set(name, 10)
  timers.arm(run)
  pass(10)
  expect([fired, posted]).toEqual([['a'], ['timer 0']])
  pass(0)
  pass(0)
  expect(fired).toEqual(['a', 'b', 'c'])
})

test('a clock that is set back delays a timer by at most its delay', () => {
  set('first', 10)
  set('second', 1000)
  timers.arm(run)
  clock.at -= 3_600_000
  pass(10)
  expect([fired, posted]).toEqual([['first'], ['timer 1000']])
  pass(1000)
  expect(fired).toEqual(['first', 'second'])
})

test('an interval goes on after a handler that throws', () => {
  timers.globals.setInterval(() => {
    fired.push('tick')
    throw new Error('tick')
  }, 10)
  timers.arm(run)
  for (let tick = 0; tick < 3; tick++) expect(() => pass(10)).toThrow('tick')
  expect([fired.length, posted]).toEqual([3, ['timer 10']])
})

test('the timers of a run that has ended never fire, and leave no place taken', () => {
  set('late', 10)
  timers.arm(run)
  timers.drop(run)
  pass(10)
  expect([fired, posted, run.shared.timers]).toEqual([[], [], 0])
})
