import { RequeueError } from '#shared/queue/queue.ts'
import type { FairSlots } from './fair-slots.ts'

/** Interval at which a full worker requeues its longest-waiting job, and so the longest wait of a new bot's job. */
const requeueMilliseconds = 10
/** The interval while no other bot has events, since each requeued job costs the queue three commands. */
const aloneMilliseconds = 50
/** A job that waits longer is requeued: another worker may have a slot. */
const maxMilliseconds = 5000

interface Waiting {
  botId: string
  since: number
  enter(slot: Disposable): void
  leave(): void
}

/**
 * Holds the jobs that a worker has taken and that are beyond their bot's share: each continues as soon as its bot may
 * take a slot again, without a round trip to the queue.
 *
 * The queue gives a worker as many jobs as it has slots, waiting ones included. So a full worker requeues its
 * longest-waiting job at an interval, to receive one of another bot: jobs of bots with few events are at the front of
 * the queue.
 */
export class SlotQueue {
  readonly #slots: FairSlots
  readonly #maxJobs: number
  readonly #requeued: (botId: string) => void
  readonly #waiting = new Set<Waiting>()
  #timer: NodeJS.Timeout | undefined
  #requeuedAt = -Infinity
  #isClosed = false

  /**
   * @param maxJobs maximum of jobs that the worker holds, those in flight included
   * @param requeued called with the bot whose job is requeued
   */
  constructor(slots: FairSlots, maxJobs: number, requeued: (botId: string) => void = () => {}) {
    this.#slots = slots
    this.#maxJobs = maxJobs
    this.#requeued = requeued
    slots.onFree(() => this.#admit())
  }

  /**
   * Waits for a slot for a bot; disposing releases it.
   *
   * @throws RequeueError when the job is to be requeued
   */
  async enter(botId: string): Promise<Disposable> {
    const slot = this.#isClosed ? undefined : this.#slots.take(botId)
    if (slot) return slot
    if (this.#isClosed) throw new RequeueError()
    return new Promise((resolve, reject) => {
      const leave = () => reject(new RequeueError())
      this.#waiting.add({ botId, since: performance.now(), enter: resolve, leave })
      this.#timer ??= setInterval(() => this.#admitOrRequeue(), requeueMilliseconds)
    })
  }

  /** Requeues all waiting jobs, and all that enter from now on. */
  close(): void {
    this.#isClosed = true
    for (const waiting of this.#waiting) this.#requeue(waiting)
    clearInterval(this.#timer)
  }

  /** Gives slots to waiting jobs whose bot may take one, those of bots with the fewest slots first. */
  #admit(): void {
    const full = new Set<string>()
    while (!this.#isClosed) {
      const next = this.#nextExcept(full)
      if (!next) return
      const slot = this.#slots.take(next.botId)
      if (!slot) full.add(next.botId)
      else {
        this.#waiting.delete(next)
        next.enter(slot)
      }
    }
  }

  /** The longest-waiting job of the bot that holds the fewest slots, without these bots. */
  #nextExcept(bots: Set<string>): Waiting | undefined {
    let next: Waiting | undefined
    let fewest = Infinity
    for (const waiting of this.#waiting) {
      if (bots.has(waiting.botId)) continue
      const held = this.#slots.heldBy(waiting.botId)
      if (held >= fewest) continue
      next = waiting
      fewest = held
    }
    return next
  }

  #admitOrRequeue(): void {
    this.#admit()
    const [first] = this.#waiting
    if (first === undefined) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const now = performance.now()
    const isFull = this.#waiting.size + this.#slots.inUse >= this.#maxJobs
    const isDue = !this.#slots.isAlone(first.botId) || now - this.#requeuedAt >= aloneMilliseconds
    if ((isFull && isDue) || now - first.since > maxMilliseconds) this.#requeue(first)
  }

  #requeue(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    this.#requeuedAt = performance.now()
    this.#requeued(waiting.botId)
    waiting.leave()
  }
}
