import type { Limits } from '../protocol/contract.ts'
import type { Fetches } from './fetches.ts'
import type { HostCalls } from './host-calls.ts'
import { NativePromise, record } from './primordials.ts'
import type { Shared } from './shared.ts'
import type { Stream, Streams } from './streams.ts'

/** A run from the kernel's side. */
export interface KernelRun {
  readonly id: string
  readonly limits: Limits
  readonly shared: Shared
  readonly hostCalls: HostCalls
  readonly fetches: Fetches
  /** The sources that the run reads in parts. */
  readonly inbound: Streams
  /** See `EventTask`. */
  readonly streamPrefix: string
  /** The environment of the bundle, frozen. */
  readonly environment: Readonly<Record<string, string>>
  /** The number of message streams that the run has begun. */
  streams: number
  /** The run has no further effects; later calls of its code are dropped. */
  ended: boolean
  /** Operations of the run's client that have not settled. */
  pendingOperations: number
  /** Called when the last pending operation has settled; set while the run waits for nothing else. */
  onQuiet: (() => void) | undefined
  /** Continues the end of the run. */
  resume: (() => void) | undefined
  /** The value that a function of the bundle threw, and the name of the innermost such function. */
  fault: { thrown: unknown; name: string } | undefined
  /** The active functions of the bundle: the latest one, linked to the earlier ones. */
  activeWork: Work | undefined
  /** The active function that was last reported to the host. */
  reportedHook: string
  /** Reports the active function to the host. */
  reportHook(name: string): void
}

/** A call of a function of the bundle. */
interface Work {
  name: string
  before: Work | undefined
  ended: boolean
}

/** A promise that never settles: operations of an ended run return it. */
export function never(): Promise<never> {
  return new NativePromise(() => {})
}

/**
 * Awaits a hook, an action or another function of the bundle. A failure of the run is attributed to `name`. The kernel
 * reports `name` beforehand, for failures that leave the kernel no time to describe them.
 */
export async function attributed(run: KernelRun, name: string, call: () => unknown): Promise<unknown> {
  const work: Work = { name, before: run.activeWork, ended: false }
  run.activeWork = work
  reportActiveHook(run)
  try {
    return await call()
  } catch (thrown) {
    if (run.fault === undefined || run.fault.thrown !== thrown) run.fault = record({ thrown, name })
    throw thrown
  } finally {
    work.ended = true
    while (run.activeWork?.ended) run.activeWork = run.activeWork.before
    reportActiveHook(run)
  }
}

/** Without this bound, a hook that stops each of a loop's messages would flood the host. */
const maxReported = 1000

/** Reports the active function to the host, unless the host knows it or only the kernel is active. */
function reportActiveHook(run: KernelRun): void {
  const { activeWork, shared } = run
  if (run.ended || activeWork === undefined || activeWork.name === run.reportedHook || shared.hookReports > maxReported)
    return
  shared.hookReports += 1
  run.reportedHook = shared.hookReports > maxReported ? '' : activeWork.name
  run.reportHook(run.reportedHook)
}

/**
 * Counts an operation as pending until it settles; a run does not end before. Adds no handler to the promise that bot
 * code gets, so that V8 still reports an unhandled rejection.
 */
export async function follow<Result>(run: KernelRun, work: () => Promise<Result>): Promise<Result> {
  if (run.ended) return never()
  const release = hold(run)
  try {
    return await work()
  } finally {
    release()
  }
}

/** Counts an operation as pending until the returned function is called. */
export function hold(run: KernelRun): () => void {
  run.pendingOperations += 1
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    run.pendingOperations -= 1
    if (run.pendingOperations === 0) run.onQuiet?.()
  }
}

/** A stream whose reads count as pending operations of the run. */
export function followed(run: KernelRun, stream: Stream): Stream {
  return record({
    next: (form) => follow(run, () => stream.next(form)),
    cancel: () => stream.cancel(),
  })
}
