import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../telemetry/logger.ts'
import { outsideOfTenants } from '../tenant-scope.ts'

/** A call that wants a slot. */
interface WantedSlot {
  provider: string
  botId: string
  /** Identifies the call. */
  lease: string
  /** Upper bounds of the calls of the provider, and of those of the bot. */
  max: number
  maxOfBot: number
  leaseSeconds: number
}

/** The slots as rows that all processes see. */
export interface SlotRows {
  /** Makes the rows of a provider that do not exist yet. */
  create(provider: string, slots: number): Promise<void>
  /** @returns whether there was a free one */
  take(wanted: WantedSlot): Promise<boolean>
  /** Extends the leases of calls that are still in flight. */
  renew(leases: string[], leaseSeconds: number): Promise<void>
  free(lease: string): Promise<void>
}

/** A slot whose process has died is free again after this time. */
const leaseSeconds = 15
const renewalMilliseconds = 5000
/** Pauses between two attempts to get a slot, each twice as long as the last. */
const firstPause = 50
const longestPause = 500

/**
 * Bounds the calls of a provider that all processes together have in flight: each call holds a row, with a lease that its process
 * renews. A bot has about half of the rows: calls of it in two processes that take one at the same moment do not see each other.
 */
export class SharedSlots {
  readonly #rows: SlotRows
  readonly #log: Logger
  readonly #max: number
  readonly #held = new Set<string>()
  readonly #created = new Map<string, Promise<void>>()
  /** The last attempt of each bot to take a row. */
  readonly #attempts = new Map<string, Promise<unknown>>()
  #renewal: NodeJS.Timeout | undefined

  constructor(rows: SlotRows, log: Logger, max: number) {
    this.#rows = rows
    this.#log = log
    this.#max = max
  }

  /**
   * Resolves when the call has a slot.
   *
   * @returns a function that gives it back
   * @throws the reason of the signal when it is aborted before; the error of the database
   */
  async take(provider: string, botId: string, signal: AbortSignal): Promise<() => void> {
    const lease = randomUUID()
    const wanted = { provider, botId, lease, max: this.#max, maxOfBot: Math.ceil(this.#max / 2), leaseSeconds }
    // Before the row is taken, so that it cannot expire unseen.
    this.#hold(lease)
    try {
      for (let wait = firstPause; ; wait = Math.min(wait * 2, longestPause)) {
        signal.throwIfAborted()
        await this.#create(provider)
        if (await this.#attempt(wanted)) break
        // All are held, or a crash of PostgreSQL has emptied the table.
        this.#created.delete(provider)
        // At random, so that processes that wait together do not ask together.
        await pause(wait * (0.5 + Math.random() / 2), undefined, { signal })
      }
    } catch (error) {
      this.#letGo(lease)
      throw error
    }
    return () => this.#free(lease)
  }

  /** Attempts of one bot follow one another, so that each sees the row that the last one has taken. */
  #attempt(wanted: WantedSlot): Promise<boolean> {
    const { botId } = wanted
    const last = this.#attempts.get(botId) ?? Promise.resolve()
    const attempt = last.then(() => this.#rows.take(wanted))
    const ended = attempt
      .catch(() => {})
      .finally(() => {
        if (this.#attempts.get(botId) === ended) this.#attempts.delete(botId)
      })
    this.#attempts.set(botId, ended)
    return attempt
  }

  #create(provider: string): Promise<void> {
    const known = this.#created.get(provider)
    if (known) return known
    const created = this.#rows.create(provider, this.#max)
    this.#created.set(provider, created)
    created.catch(() => this.#created.delete(provider))
    return created
  }

  #hold(lease: string): void {
    this.#held.add(lease)
    // It renews the slots of all bots.
    this.#renewal ??= outsideOfTenants(() => setInterval(() => void this.#renew(), renewalMilliseconds).unref())
  }

  #letGo(lease: string): void {
    this.#held.delete(lease)
    if (this.#held.size > 0) return
    clearInterval(this.#renewal)
    this.#renewal = undefined
  }

  #free(lease: string): void {
    this.#letGo(lease)
    this.#rows.free(lease).catch((err: unknown) => {
      this.#log.warn({ err }, 'A slot of a provider of models is not given back: it expires')
    })
  }

  async #renew(): Promise<void> {
    try {
      await this.#rows.renew([...this.#held], leaseSeconds)
    } catch (err) {
      this.#log.warn({ err }, 'The slots of providers of models are not renewed; trying again')
    }
  }
}
