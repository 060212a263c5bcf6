import type { IsolateStart, SandboxWatch } from '../protocol/contract.ts'

const kinds = ['warm', 'spare', 'cold'] as const satisfies readonly IsolateStart[]
/** Above the number of runs that a process can begin between two heartbeats. */
const maxPerHeartbeat = 1_000_000

/** Counts how runs got their isolates, as a process reports it. A false report affects only metrics. */
export class RunStarts {
  readonly #watch: SandboxWatch | undefined
  readonly #reported: Record<IsolateStart, number> = { warm: 0, spare: 0, cold: 0 }

  constructor(watch: SandboxWatch | undefined) {
    this.#watch = watch
  }

  /** @param counts totals since the process began */
  report(counts: Record<IsolateStart, number>): void {
    for (const kind of kinds) {
      const more = counts[kind] - this.#reported[kind]
      if (!(more > 0 && more < maxPerHeartbeat)) continue
      this.#reported[kind] = counts[kind]
      this.#watch?.started(kind, more)
    }
  }
}
