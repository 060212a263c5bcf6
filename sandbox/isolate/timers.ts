import { limitError } from './errors.ts'
import { apply, create, NativeTypeError, now, toNumber } from './primordials.ts'
import type { KernelRun } from './run.ts'
import type { Post } from './shared.ts'

interface Timer {
  id: string
  handler: Function
  values: unknown[]
  milliseconds: number
  repeats: boolean
  /** The time at which the timer fires, in milliseconds since 1970. */
  dueAt: number
}

/** The timers of a run, by their ids, of which the host knows the time of the next one only. */
interface RunTimers {
  waiting: Record<string, Timer>
  /** Whether the host has been asked for a turn that arms its timer. */
  isAsked: boolean
  /** The time at which the host's timer of the run is due; infinite without one. */
  armedFor: number
}

export interface Timers {
  /** The functions that bot code calls. */
  globals: Record<'setTimeout' | 'setInterval' | 'clearTimeout' | 'clearInterval', Function>
  /** Tells the host when the next timer of a run is due, if that is earlier than the host knows. */
  arm(run: KernelRun): void
  /** Runs the handler of the next timer of a run, whose time the host has reported. */
  fire(run: KernelRun): void
  /** Removes the timers of a run that has ended. */
  drop(run: KernelRun): void
}

const longestMilliseconds = 2 ** 31 - 1
/** The host's clock may report a time this much before the one of the isolate. */
const toleranceMilliseconds = 1

/**
 * Timers belong to the run whose turn it is when they are set, and end with it. Outside of runs there are no timers: a
 * timer that a module sets while it loads never fires.
 *
 * The host has one timer for each run, for the one of the run's timers that is due first. So a client that limits the
 * time of its requests, and clears the limit of each when it has the response, needs one message to the host and not
 * three for each request. The host's timer is armed in a turn of its own, after the turn that set the run's. Otherwise,
 * code that sets earlier and earlier timers without a pause would flood it.
 */
export function createTimers(current: () => KernelRun | undefined, post: Post): Timers {
  const byRun = create(null) as Record<string, RunTimers>
  /** The run of each timer. */
  const runOf = create(null) as Record<string, KernelRun>
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
    const id = `${nextTimer}`
    const milliseconds = toDelay(delay)
    const dueAt = now() + milliseconds
    const timers = (byRun[run.id] ??= { waiting: create(null), isAsked: false, armedFor: Infinity })
    timers.waiting[id] = { id, handler, values, milliseconds, repeats, dueAt }
    runOf[id] = run
    if (!timers.isAsked && dueAt < timers.armedFor) {
      timers.isAsked = true
      post('timers', run.id, '', '')
    }
    return nextTimer
  }

  const remove = (run: KernelRun, id: string): void => {
    delete byRun[run.id]!.waiting[id]
    delete runOf[id]
    run.shared.timers -= 1
  }

  const clear = (id: unknown) => {
    if (typeof id !== 'number' && typeof id !== 'string') return
    const run = runOf[`${id}`]
    if (run !== undefined) remove(run, `${id}`)
  }

  const arm = (run: KernelRun): void => {
    const timers = byRun[run.id]
    if (timers === undefined) return
    timers.isAsked = false
    const next = earliestOf(timers)
    if (next === undefined || next.dueAt >= timers.armedFor) return
    timers.armedFor = next.dueAt
    post('timer', run.id, `${millisecondsUntil(next)}`, '')
  }

  return {
    globals: {
      setTimeout: (handler: unknown, delay: unknown, ...values: unknown[]) => set(handler, delay, values, false),
      setInterval: (handler: unknown, delay: unknown, ...values: unknown[]) => set(handler, delay, values, true),
      clearTimeout: clear,
      clearInterval: clear,
    },
    arm,
    fire(run) {
      const timers = byRun[run.id]
      if (timers === undefined) return
      timers.armedFor = Infinity
      const timer = earliestOf(timers)
      if (timer === undefined) return
      // The timer for which the host's was armed may have been cleared.
      if (!isDue(timer)) return arm(run)
      if (timer.repeats) timer.dueAt = now() + timer.milliseconds
      else remove(run, timer.id)
      arm(run)
      apply(timer.handler, undefined, timer.values)
    },
    drop(run) {
      const timers = byRun[run.id]
      if (timers === undefined) return
      for (const id in timers.waiting) remove(run, id)
      delete byRun[run.id]
    },
  }
}

/** The timer that is due first, and of several the one that was set first. */
function earliestOf({ waiting }: RunTimers): Timer | undefined {
  let earliest: Timer | undefined
  for (const id in waiting) if (earliest === undefined || waiting[id]!.dueAt < earliest.dueAt) earliest = waiting[id]
  return earliest
}

/** A timer that is due later than its delay allows is due too: the system's clock has been set back since. */
function isDue({ dueAt, milliseconds }: Timer): boolean {
  const left = dueAt - now()
  return left <= toleranceMilliseconds || left > milliseconds
}

/** At most its delay, if the system's clock has been set back; 0 for a timer that is due. */
function millisecondsUntil({ dueAt, milliseconds }: Timer): number {
  const left = dueAt - now()
  return left <= 0 ? 0 : left <= milliseconds ? left : milliseconds
}

function toDelay(delay: unknown): number {
  const milliseconds = delay === undefined ? 0 : toNumber(delay)
  return milliseconds >= 1 ? (milliseconds <= longestMilliseconds ? milliseconds : 1) : 1
}
