import { limitError } from './errors.ts'
import { apply, create, NativeTypeError, now, toNumber } from './primordials.ts'
import type { KernelRun } from './run.ts'
import type { Post } from './shared.ts'

interface Timer {
  run: KernelRun
  handler: Function
  values: unknown[]
  milliseconds: number
  repeats: boolean
  /** The time at which the timer fires, in milliseconds since 1970. */
  dueAt: number
  /** Whether the host has received the timer. */
  isArmed: boolean
}

export interface Timers {
  /** The functions that bot code calls. */
  globals: Record<'setTimeout' | 'setInterval' | 'clearTimeout' | 'clearInterval', Function>
  /** Sends the host the timers that a run has set since the last `arm`. */
  arm(run: KernelRun): void
  /** Runs the handler of a timer that is due. */
  fire(id: string): void
  /** Removes the timers of a run that has ended. */
  drop(run: KernelRun): void
}

const longestMilliseconds = 2 ** 31 - 1

/**
 * Timers belong to the run whose turn it is when they are set, and end with it. Outside of runs there are no timers: a
 * timer that a module sets while it loads never fires.
 *
 * The host receives timers in a turn of their own, after the turn that set them. Otherwise, code that sets and clears
 * timers without a pause would flood it. So no turn reports more timers than a run may have.
 */
export function createTimers(current: () => KernelRun | undefined, post: Post): Timers {
  const timers = create(null) as Record<string, Timer>
  /** Runs for which `arm` has been requested. */
  const asked = create(null) as Record<string, true>
  let nextTimer = 0

  const set = (handler: unknown, delay: unknown, values: unknown[], repeats: boolean): number => {
    if (typeof handler !== 'function') throw new NativeTypeError('The handler of a timer must be a function')
    nextTimer += 1
    const run = current()
    if (run === undefined || run.ended) return nextTimer
    const { shared, limits } = run
    if (shared.timers >= limits.timers) {
      throw limitError('timers', 'TimerLimitError', `A run may have at most ${limits.timers} timers at a time`)
    }
    shared.timers += 1
    const milliseconds = toDelay(delay)
    timers[nextTimer] = { run, handler, values, milliseconds, repeats, dueAt: now() + milliseconds, isArmed: false }
    if (asked[run.id] === undefined) {
      asked[run.id] = true
      post('timers', run.id, '', '')
    }
    return nextTimer
  }

  const remove = (id: string): Timer | undefined => {
    const timer = timers[id]
    if (timer === undefined) return undefined
    delete timers[id]
    timer.run.shared.timers -= 1
    return timer
  }

  const clear = (id: unknown) => {
    if (typeof id !== 'number' && typeof id !== 'string') return
    const timer = remove(`${id}`)
    if (timer?.isArmed) post('clearTimer', timer.run.id, `${id}`, '')
  }

  return {
    globals: {
      setTimeout: (handler: unknown, delay: unknown, ...values: unknown[]) => set(handler, delay, values, false),
      setInterval: (handler: unknown, delay: unknown, ...values: unknown[]) => set(handler, delay, values, true),
      clearTimeout: clear,
      clearInterval: clear,
    },
    arm(run) {
      delete asked[run.id]
      // One time for all of them, so that timers due together fire in the order in which they were set.
      const armedAt = now()
      for (const id in timers) {
        const timer = timers[id]!
        if (timer.run !== run || timer.isArmed) continue
        timer.isArmed = true
        const left = timer.dueAt - armedAt
        post('timer', run.id, id, `${left >= 1 && left <= timer.milliseconds ? left : 1}`)
      }
    },
    fire(id) {
      const timer = timers[id]
      if (timer === undefined) return
      if (timer.repeats) post('timer', timer.run.id, id, `${timer.milliseconds}`)
      else remove(id)
      apply(timer.handler, undefined, timer.values)
    },
    drop(run) {
      delete asked[run.id]
      for (const id in timers) if (timers[id]!.run === run) remove(id)
    },
  }
}

function toDelay(delay: unknown): number {
  const milliseconds = delay === undefined ? 0 : toNumber(delay)
  return milliseconds >= 1 ? (milliseconds <= longestMilliseconds ? milliseconds : 1) : 1
}
