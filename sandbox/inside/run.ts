import type { JsonObject, Limits } from '../contract.ts'
import type { Fetches } from './fetches.ts'
import type { HostCalls } from './host-calls.ts'
import { NativePromise } from './primordials.ts'

/** Says something to the process around the isolate; strings only, and no answer. */
export type Post = (kind: string, run: string, first: string, second: string) => void

/** The `event` object that hooks and actions get, with `state` in it. */
export type EventObject = Record<string, unknown> & { state: JsonObject }

/** What a run has in common with the runs that are called from within it. */
export interface Shared {
  event: EventObject
  hostCalls: number
  fetches: number
  timers: number
  logLines: number
  logCharacters: number
  logIsCut: boolean
}

/** A run as the kernel sees it. */
export interface KernelRun {
  readonly id: string
  readonly limits: Limits
  readonly shared: Shared
  readonly hostCalls: HostCalls
  readonly fetches: Fetches
  /** See `EventTask`. */
  readonly streamPrefix: string
  /** How many message streams it has begun. */
  streams: number
  /** Nothing more happens for it; code of it that still goes on is neither heard nor answered. */
  ended: boolean
  /** Operations of its client that have not settled. */
  pendingOperations: number
  /** Called when the last of them has; set while the run waits for nothing else. */
  onQuiet: (() => void) | undefined
  /** Goes on with the end of the run. */
  resume: (() => void) | undefined
}

/** A promise that never settles: what code of an ended run gets to wait for. */
export function never(): Promise<never> {
  return new NativePromise(() => {})
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
