import type { JsonObject } from '../protocol/contract.ts'

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
  /** How often the kernel has reported the active function. */
  hookReports: number
}
