/**
 * How a run of an event went, as it is kept with the event. There is one with nearly each event, so it is small: steps
 * are tuples, what is usual is left out.
 */
export interface RunRecord {
  attempt: number
  /** ISO 8601, by the database's clock. */
  at: string
  outcome: 'processed' | 'failed' | 'ignored' | 'retried'
  /** Of the bot, where its own code was called. */
  version?: string
  /** Milliseconds that the event had waited, that the run took, and of processor time in the isolate. */
  waited: number
  took: number
  cpu?: number
  error?: { reason: string; hook?: string; message: string }
  steps?: RunStep[]
  /** Steps that there was no room for. */
  leftOut?: number
}

export const stepKinds = ['load', 'hook', 'action', 'call', 'fetch'] as const
export type StepKind = (typeof stepKinds)[number]

/**
 * Something that took time in a run: what, its begin and duration in milliseconds since the run's begin, how deep it is
 * within others, and how it was answered: a status, or one word where there was no answer.
 */
export type RunStep = [
  kind: StepKind,
  name: string,
  start: number,
  took: number,
  depth: number,
  answer?: number | string,
]

/** Runs kept with an event: the newest. */
export const keptRuns = 5
