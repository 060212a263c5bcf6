/** A task of the process that runs scripts: a script with its input is run, one without is compiled. */
export type Task = { script: string; input: object } | { script: string }

/** Its reply. */
export interface Reply<Outcome> {
  outcome: Outcome
  /** Whether the process can do no further task. */
  isBroken?: true
}
