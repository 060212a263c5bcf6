import type { IsolateStart, SandboxWatch } from '../protocol/contract.ts'

const kinds = ['warm', 'spare', 'cold'] as const satisfies readonly IsolateStart[]
/** More than a process begins between two heartbeats. */
const maxPerHeartbeat = 1_000_000

/** Tells how runs got their isolates, as a process counts them. What it says is of no consequence, but may be made up. */
export class RunStarts {
  readonly #watch: SandboxWatch | undefined
  readonly #told: Record<IsolateStart, number> = { warm: 0, spare: 0, cold: 0 }

  constructor(watch: SandboxWatch | undefined) {
    this.#watch = watch
  }

  /** @param counts since the process began */
  tell(counts: Record<IsolateStart, number>): void {
    for (const kind of kinds) {
      const more = counts[kind] - this.#told[kind]
      if (!(more > 0 && more < maxPerHeartbeat)) continue
      this.#told[kind] = counts[kind]
      this.#watch?.started(kind, more)
    }
  }
}
