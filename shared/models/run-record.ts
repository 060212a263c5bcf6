/**
 * The record of one run, stored with its event. Nearly every event has one, so it is small: steps are tuples, and
 * defaults are left out.
 */
export interface RunRecord {
  attempt: number
  /** ISO 8601, by the database's clock. */
  at: string
  outcome: 'processed' | 'failed' | 'ignored' | 'retried'
  /** The bot version, if the bot's own code was called. */
  version?: string
  /** Milliseconds that the event had waited, of the run, and of processor time in the isolate. */
  waited: number
  took: number
  cpu?: number
  error?: { reason: string; hook?: string; message: string }
  steps?: RunStep[]
  /** The number of steps that exceeded the maximum and were left out. */
  leftOut?: number
}

export const stepKinds = ['load', 'hook', 'action', 'card', 'call', 'fetch'] as const
export type StepKind = (typeof stepKinds)[number]

/**
 * A step of a run: its kind and name, its begin and duration in milliseconds since the run's begin, its nesting depth,
 * and its result: a status, or one word when there was no response.
 */
export type RunStep = [
  kind: StepKind,
  name: string,
  start: number,
  took: number,
  depth: number,
  answer?: number | string,
]

/** Upper bound of the run records kept per event, the newest ones. */
export const maxKeptRuns = 5
