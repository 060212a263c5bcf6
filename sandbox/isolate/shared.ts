import type { JsonObject } from '../protocol/contract.ts'

/** Posts a message to the process around the isolate, without a reply: strings, or the bytes of a part of a body. */
export type Post = (kind: string, run: string, first: string, second: string | ArrayBuffer) => void

/** The `event` object that hooks and actions get, with `state` in it. */
export type EventObject = Record<string, unknown> & { state: JsonObject }

/** The state that a run shares with the runs that it calls. */
export interface Shared {
  event: EventObject
  hostCalls: number
  fetches: number
  /** Connections that are open, or are to be. */
  connections: number
  timers: number
  logLines: number
  logCharacters: number
  logIsCut: boolean
  /** The number of times that the kernel has reported the active function. */
  hookReports: number
}
