import type { Bundle, CodeSuspension } from '../protocol/contract.ts'

/** The owner of code: a bot, or an integration installed on it. */
export interface Owner extends Pick<Bundle, 'botId' | 'installationId'> {
  /** The id of the upload. */
  codeId: string
}

export function ownerOf({ botId, installationId, codeId, id }: Bundle): Owner {
  return { botId, codeId: codeId ?? id, ...(installationId !== undefined && { installationId }) }
}

/** The key of an owner, the same for all of its uploads. */
export function ownerKey({ botId, installationId = '' }: Owner): string {
  return `${botId}/${installationId}`
}

/** An unrequested end of a process. */
export interface ProcessExit {
  /** The owners whose code may have caused the end. */
  suspects: Owner[]
  /**
   * Whether the process was apparently killed from outside: perhaps for a shortage of memory, which code may have
   * caused.
   */
  fromOutside: boolean
}

const minute = 60_000
/** Kills within this period count together. */
const windowMilliseconds = 10 * minute
const killsForQuarantine = 3
const killsForDisabling = 3
/** Long enough that code which kills repeatedly after its release costs its neighbours next to nothing. */
const quarantineMilliseconds = 60 * minute
/**
 * A crash with several suspects counts as a fraction of a kill for each, with this lower bound. The bound is also the
 * weight of an end from outside. Code that was present at every crash enters quarantine after twelve.
 */
const minPart = 1 / 4
/** Sums of fractions such as thirds are not exact. */
const tolerance = 1e-6

interface Kill {
  at: number
  part: number
}

interface Record {
  kills: Kill[]
  /** End of its quarantine, by the history's clock; 0 when it is not in quarantine. */
  quarantinedUntil: number
  /** The upload that was suspended. */
  disabled?: { codeId: string; reason: string }
}

/**
 * The crashes attributed to each owner's code, kept for the life of this worker.
 *
 *   in slot ── 3 kills in 10 minutes ──► in quarantine ── 3 more ──► disabled
 *      ▲                                   │      ▲                    │
 *      └──── an hour without a kill ◄──────┘      └── another upload ◄─┘
 *
 * In a slot, the cause of a crash is not always known: then all candidates are suspects. In quarantine the code is
 * alone. So code that was suspected wrongly, or because of a neighbour that escaped from its isolate, is never
 * disabled.
 */
export class CrashHistory {
  readonly #records = new Map<string, Record>()
  readonly #onSuspension: (suspension: CodeSuspension) => void
  readonly #now: () => number

  constructor(onSuspension: (suspension: CodeSuspension) => void, now: () => number = () => performance.now()) {
    this.#onSuspension = onSuspension
    this.#now = now
  }

  /** Returns the place in which code has to run, or the reason why it must not. */
  placementOf(owner: Owner): { placement: 'slot' | 'quarantine' } | { placement: 'disabled'; reason: string } {
    const record = this.#records.get(ownerKey(owner))
    if (record?.disabled?.codeId === owner.codeId) return { placement: 'disabled', reason: record.disabled.reason }
    return { placement: record !== undefined && record.quarantinedUntil > this.#now() ? 'quarantine' : 'slot' }
  }

  /** Records the death of a process in a slot. */
  exitedInSlot({ suspects, fromOutside }: ProcessExit): void {
    this.#removeExpired()
    const part = fromOutside ? minPart : Math.max(1 / suspects.length, minPart)
    for (const owner of suspects) {
      const record = this.#record(owner, part)
      // The previous crash may have sent the code to quarantine while it had runs in two processes.
      if (record.quarantinedUntil > this.#now() || sum(record) < killsForQuarantine - tolerance) continue
      record.quarantinedUntil = this.#now() + quarantineMilliseconds
      record.kills = []
      this.#onSuspension({ ...owner, placement: 'quarantine', reason: quarantineReason })
    }
  }

  /** Records the death of a quarantine process. */
  exitedInQuarantine(owner: Owner, { fromOutside }: ProcessExit): void {
    this.#removeExpired()
    const record = this.#record(owner, fromOutside ? minPart : 1)
    record.quarantinedUntil = this.#now() + quarantineMilliseconds
    if (sum(record) < killsForDisabling - tolerance) return
    record.kills = []
    record.disabled = { codeId: owner.codeId, reason: disabledReason }
    this.#onSuspension({ ...owner, placement: 'disabled', reason: disabledReason })
    this.#clear()
  }

  #record(owner: Owner, part: number): Record {
    const key = ownerKey(owner)
    const record = this.#records.get(key) ?? { kills: [], quarantinedUntil: 0 }
    this.#records.set(key, record)
    record.kills.push({ at: this.#now(), part })
    return record
  }

  /** Drops all partial suspicions: the code that was just disabled is taken to have caused those crashes. */
  #clear(): void {
    for (const record of this.#records.values()) record.kills = record.kills.filter(({ part }) => part === 1)
  }

  #removeExpired(): void {
    const now = this.#now()
    for (const [key, record] of this.#records) {
      record.kills = record.kills.filter(({ at }) => at > now - windowMilliseconds)
      if (record.kills.length === 0 && record.quarantinedUntil <= now) this.#records.delete(key)
    }
  }
}

function sum({ kills }: Record): number {
  return kills.reduce((total, { part }) => total + part, 0)
}

const quarantineReason =
  `Sandbox processes have died ${killsForQuarantine} times or more within ${windowMilliseconds / minute} minutes ` +
  'while this code ran in them. The code is in quarantine, a process of its own, until no process has died for ' +
  `${quarantineMilliseconds / minute} minutes. It will be disabled if that process dies ${killsForDisabling} times`

const disabledReason =
  `This code is disabled: it was in quarantine for killing sandbox processes, and killed ${killsForDisabling} more ` +
  'there. Upload a new version, or the same version again, to enable it'
