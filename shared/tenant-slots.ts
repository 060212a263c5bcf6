import { TooManyWaitingError } from './errors.ts'

/** The bounds of a common resource. */
interface Bounds {
  /** Upper bounds of the slots that all tenants have together, and that one has. */
  max: number
  maxOfTenant: number
  /** Upper bounds of the calls that wait, of one tenant and of all: a call that waits takes up room in the process. */
  maxWaitingOfTenant: number
  maxWaiting?: number
}

interface Wait {
  /** Ends the wait. */
  signal?: AbortSignal
  /** The call waits however many others do, since their number is bounded elsewhere. */
  isUnbounded?: boolean
}

/** Gives a slot back, once; false when it was given back before. */
export type GiveBack = () => boolean

/**
 * Shares the slots of a common resource among tenants (bots, or workspaces), so that none uses up all of it. The others
 * wait: those of one tenant in order of arrival, and the tenants take turns, however many calls of each wait.
 */
export class TenantSlots {
  readonly #bounds: Bounds
  #taken = 0
  readonly #ofTenants = new Map<string, number>()
  /** The calls that wait, in the order of their tenants' turns. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #waitingCount = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  get taken(): number {
    return this.#taken
  }

  /** Takes a slot that is free. Undefined when the call would have to wait. */
  takeFree(tenant: string): GiveBack | undefined {
    if (!this.#isFree(tenant)) return undefined
    this.#enter(tenant)
    return this.#giveBack(tenant)
  }

  /**
   * Resolves when the tenant has a slot.
   *
   * @throws TooManyWaitingError; the reason of the signal when it is aborted before
   */
  async take(tenant: string, { signal, isUnbounded = false }: Wait = {}): Promise<GiveBack> {
    signal?.throwIfAborted()
    const free = this.takeFree(tenant)
    if (free) return free
    if (!isUnbounded && this.#isQueueFull(tenant)) throw new TooManyWaitingError('Too many calls wait')
    await this.#turn(tenant, signal)
    return this.#giveBack(tenant)
  }

  #isQueueFull(tenant: string): boolean {
    const { maxWaitingOfTenant, maxWaiting = Infinity } = this.#bounds
    return (this.#waiting.get(tenant)?.length ?? 0) >= maxWaitingOfTenant || this.#waitingCount >= maxWaiting
  }

  #turn(tenant: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leaveQueue)
        this.#enter(tenant)
        resolve()
      }
      const leaveQueue = () => {
        this.#setWaiting(
          tenant,
          this.#waiting.get(tenant)!.filter((one) => one !== enter),
        )
        this.#waitingCount -= 1
        reject(signal!.reason instanceof Error ? signal!.reason : new Error(String(signal!.reason)))
      }
      this.#setWaiting(tenant, [...(this.#waiting.get(tenant) ?? []), enter])
      this.#waitingCount += 1
      signal?.addEventListener('abort', leaveQueue, { once: true })
    })
  }

  /** The tenant keeps its turn. */
  #setWaiting(tenant: string, calls: (() => void)[]): void {
    if (calls.length > 0) this.#waiting.set(tenant, calls)
    else this.#waiting.delete(tenant)
  }

  #isFree(tenant: string): boolean {
    const { max, maxOfTenant } = this.#bounds
    return this.#taken < max && (this.#ofTenants.get(tenant) ?? 0) < maxOfTenant
  }

  #enter(tenant: string): void {
    this.#taken += 1
    this.#ofTenants.set(tenant, (this.#ofTenants.get(tenant) ?? 0) + 1)
  }

  #giveBack(tenant: string): GiveBack {
    let isTaken = true
    return () => {
      const wasTaken = isTaken
      if (isTaken) this.#leave(tenant)
      isTaken = false
      return wasTaken
    }
  }

  #leave(tenant: string): void {
    this.#taken -= 1
    const left = this.#ofTenants.get(tenant)! - 1
    if (left === 0) this.#ofTenants.delete(tenant)
    else this.#ofTenants.set(tenant, left)
    for (const [next, [enter, ...others]] of this.#waiting) {
      if (!this.#isFree(next)) continue
      // Its next turn comes after those of the other tenants.
      this.#waiting.delete(next)
      this.#setWaiting(next, others)
      this.#waitingCount -= 1
      return enter!()
    }
  }
}
