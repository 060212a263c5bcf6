/** Limit and use of processor time, in milliseconds. */
export interface CpuBudget {
  readonly limit: number
  used: number
}

/** The owner of a turn: it is charged for the processor time, and its failures are attributed to it. */
export interface TurnOwner {
  /** The run that a crash of the process in this turn is attributed to. */
  readonly id: string
  readonly cpu: CpuBudget
  /** End of the owner, by `performance.now()`. A turn that continues long after that is stopped. */
  endedAt: number | undefined
  /** Its turn has used up its processor time, or the isolate's memory. */
  exceeded(limit: 'cpu' | 'memory'): void
  /**
   * Its turn ended with an error that the kernel does not catch: a syntax error, or an unhandled rejection of bot code.
   */
  threw(thrown: unknown): void
}

/** One entry of the isolate's thread, on behalf of an owner. */
export interface Turn {
  owner: TurnOwner
  enter: Entrance
  /** Whether the isolate gets no other turn until this one is over. */
  isExclusive: boolean
  /** Begin of the turn, as far as this thread knows. */
  startedAt: number
  reportedLong: boolean
  /** Whether the watchdog has seen the turn exceed a limit, and waits for a second look. */
  isSuspected: boolean
}

/**
 * Makes the isolate's thread do work. The promise resolves to the time at which the work began there, in milliseconds
 * since 1970, where that is known. Undefined when there is no work.
 */
export type Entrance = () => Promise<unknown> | undefined

/** Runs turns one after another. */
export interface Turns {
  /** Whether no further turn begins. */
  readonly dead: boolean
  enter(owner: TurnOwner, entrance: Entrance): void
  /** Runs work as a turn during which the isolate gets no other turn. */
  enterExclusively(owner: TurnOwner, work: () => Promise<void>): void
}
