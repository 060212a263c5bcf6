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
  /** When its time comes, in milliseconds since 1970. */
  dueAt: number
  /** Whether the host knows of it. */
  isArmed: boolean
}

export interface Timers {
  /** What bot code calls. */
  globals: Record<'setTimeout' | 'setInterval' | 'clearTimeout' | 'clearInterval', Function>
  /** Tells the host of the timers that a run has set since it was last asked. */
  arm(run: KernelRun): void
  /** The time of a timer has come. */
  fire(id: string): void
  /** Forgets the timers of a run that has ended. */
  drop(run: KernelRun): void
}

const longestMilliseconds = 2 ** 31 - 1

/**
 * Timers belong to the run whose turn it is when they are set, and end with it. Outside of runs nothing waits: a timer
 * that a module sets when it is loaded never fires.
 *
 * The host learns of a timer in a turn of its own, when the turn that set it is over: code that sets timers and clears
 * them without a pause would else flood it. So no turn reports more timers than a run may have.
 */
export function createTimers(current: () => KernelRun | undefined, post: Post): Timers {
  const timers = create(null) as Record<string, Timer>
  /** Runs that will be asked to arm their timers. */
  const asked = create(null) as Record<string, true>
  let nextTimer = 0

  const set = (handler: unknown, delay: unknown, values: unknown[], repeats: boolean): number => {
    if (typeof handler !== 'function') throw new NativeTypeError('A timer takes a function')
    nextTimer += 1
    const run = current()
    if (run === undefined || run.ended) return nextTimer
    const { shared, limits } = run
    if (shared.timers >= limits.timers) {
      throw limitError('timers', 'TimerLimitError', `A run may have ${limits.timers} timers at once`)
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
      // Of all at the same moment: those that are due together are to fire in the order in which they were set.
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
