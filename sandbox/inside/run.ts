import type { JsonObject, Limits } from '../contract.ts'
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
