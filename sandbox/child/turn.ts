/** Processor time: what may be used, and what has been. */
export interface CpuBudget {
  readonly limit: number
  used: number
}

/** The owner of a turn: it is charged for the processor time, and its failures are attributed to it. */
export interface TurnOwner {
  /** The run that a crash of the process in this turn is attributed to. */
  readonly id: string
  readonly cpu: CpuBudget
  /** When it ended, by `performance.now()`; a turn that continues long after that is stopped. */
  endedAt: number | undefined
  /** Its turn took the last of its processor time, or of the isolate's memory. */
  exceeded(limit: 'cpu' | 'memory'): void
  /** Its turn ended with what the kernel does not catch: a syntax error, or a rejection that bot code forgot. */
  threw(thrown: unknown): void
}

/** One entry of the isolate's thread, on behalf of an owner. */
export interface Turn {
  owner: TurnOwner
  enter: Entrance
  /** Whether nothing else may be given to the isolate until it is over. */
  isAlone: boolean
  /** When it began, as far as this thread knows. */
  startedAt: number
  reportedLong: boolean
  /** Whether the watchdog has seen it go too far, and looks once more. */
  isSuspected: boolean
}

/**
 * Has the isolate's thread do something. What that resolves to is when it began there, in milliseconds since 1970, where
 * it is known; undefined: there is nothing to do.
 */
export type Entrance = () => Promise<unknown> | undefined

/** Runs turns one after another. */
export interface Turns {
  /** Whether no further turn begins. */
  readonly dead: boolean
  enter(owner: TurnOwner, entrance: Entrance): void
  /** Runs work as a turn during which nothing else is given to the isolate. */
  enterAlone(owner: TurnOwner, work: () => Promise<void>): void
}
