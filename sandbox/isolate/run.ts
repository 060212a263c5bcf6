import type { Limits } from '../protocol/contract.ts'
import type { Fetches } from './fetches.ts'
import type { HostCalls } from './host-calls.ts'
import { NativePromise, record } from './primordials.ts'
import type { Shared } from './shared.ts'
import type { Stream, Streams } from './streams.ts'

/** A run as the kernel sees it. */
export interface KernelRun {
  readonly id: string
  readonly limits: Limits
  readonly shared: Shared
  readonly hostCalls: HostCalls
  readonly fetches: Fetches
  /** What it reads in parts. */
  readonly inbound: Streams
  /** See `EventTask`. */
  readonly streamPrefix: string
  /** The bundle's, frozen. */
  readonly environment: Readonly<Record<string, string>>
  /** How many message streams it has begun. */
  streams: number
  /** Nothing more happens for it; calls of its code that still runs are dropped. */
  ended: boolean
  /** Operations of its client that have not settled. */
  pendingOperations: number
  /** Called when the last of them has; set while the run waits for nothing else. */
  onQuiet: (() => void) | undefined
  /** Goes on with the end of the run. */
  resume: (() => void) | undefined
  /** What a function of the bundle has thrown, and the name of that function; of those it went through, the first. */
  fault: { thrown: unknown; name: string } | undefined
  /** The active functions of the bundle: the one that began last, linked to those before it. */
  activeWork: Work | undefined
  /** The active function as the host knows it. */
  reportedHook: string
  /** Reports it to the host. */
  reportHook(name: string): void
}

/** A function of the bundle that was called. */
interface Work {
  name: string
  before: Work | undefined
  ended: boolean
}

/** A promise that never settles: what code of an ended run gets to wait for. */
export function never(): Promise<never> {
  return new NativePromise(() => {})
}

/**
 * Awaits a hook, an action or another function of the bundle. Should the run fail of what it throws, `name` is at fault;
 * the kernel reports it before, for failures that the kernel does not live to describe.
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

/** A hook that stops what a loop sends over and over would else flood the host. */
const maxReported = 1000

/** Reports the active function to the host, unless the host knows, or only the kernel is active. */
function reportActiveHook(run: KernelRun): void {
  const { activeWork, shared } = run
  if (run.ended || activeWork === undefined || activeWork.name === run.reportedHook || shared.hookReports > maxReported)
    return
  shared.hookReports += 1
  run.reportedHook = shared.hookReports > maxReported ? '' : activeWork.name
  run.reportHook(run.reportedHook)
}

/**
 * Counts an operation as pending until it settles: a run does not end before. Adds no handler to the promise that bot
 * code gets, so that V8 still reports a rejection that nobody handles.
 */
export async function follow<Result>(run: KernelRun, work: () => Promise<Result>): Promise<Result> {
  if (run.ended) return never()
  run.pendingOperations += 1
  try {
    return await work()
  } finally {
    run.pendingOperations -= 1
    if (run.pendingOperations === 0) run.onQuiet?.()
  }
}

/** A stream that the run waits for while it is read. */
export function followed(run: KernelRun, stream: Stream): Stream {
  return record({
    next: (form) => follow(run, () => stream.next(form)),
    cancel: () => stream.cancel(),
  })
}
