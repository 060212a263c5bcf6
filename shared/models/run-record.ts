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
 * A step of a run: its kind and name, its start and duration in milliseconds since the run's start, its nesting depth,
 * and its result: a status, or one word when there was no response. A call of language models has its facts.
 */
export type RunStep = [
  kind: StepKind,
  name: string,
  start: number,
  took: number,
  depth: number,
  answer?: number | string | null,
  model?: ModelStep,
]

/** The facts of a call of language models; those that are 0 or false are left out. */
export interface ModelStep {
  /** `provider:model`: that which answered, or was asked last. */
  model: string
  /** Tokens, and their cost in US dollars. */
  input?: number
  output?: number
  cost?: number
  /** Of a stream: milliseconds from the call to the first text. */
  first?: number
  /** The answer is that of an earlier run of the event. */
  replayed?: true
  /** Why there is no answer, for instance `limited 429`. */
  failure?: string
  /** The key of the question and the answer, where they are kept. */
  contents?: string
}

/** Upper bound of the run records kept per event, the newest ones. */
export const maxKeptRuns = 5
