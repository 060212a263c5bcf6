import { RequeueError } from '#shared/queue/queue.ts'
import type { FairSlots } from './fair-slots.ts'

/** When all seats are taken, one is made free so often: whoever comes from the front of the queue then waits no longer. */
const vacateMilliseconds = 10
/** Nobody waits here for longer than this: another worker may have a slot. */
const maxMilliseconds = 5000

interface Waiting {
  botId: string
  since: number
  enter(slot: Disposable): void
  leave(): void
}

/**
 * Where the jobs wait that a worker has taken from the queue and that are beyond their bot's share: each goes on as soon as
 * its bot may have a slot again, without a word to the queue.
 *
 * The queue gives a worker as many jobs as it has slots, those that wait here included. So when it has given them all,
 * the one that has waited longest goes back into the queue now and then, and makes room for one of another bot: in front of
 * the queue are those of bots that have little to do.
 */
export class SlotQueue {
  readonly #slots: FairSlots
  readonly #seats: number
  readonly #dismissed: (botId: string) => void
  readonly #waiting = new Set<Waiting>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  /**
   * @param seats how many jobs the worker has at most, those under way included
   * @param dismissed a job of this bot goes back into the queue
   */
  constructor(slots: FairSlots, seats: number, dismissed: (botId: string) => void = () => {}) {
    this.#slots = slots
    this.#seats = seats
    this.#dismissed = dismissed
    slots.onFree(() => this.#admit())
  }

  /**
   * Waits for a slot for a bot; disposing gives it back.
   *
   * @throws RequeueError when the job is to go back into the queue
   */
  async enter(botId: string): Promise<Disposable> {
    const slot = this.#isClosed ? undefined : this.#slots.take(botId)
    if (slot) return slot
    if (this.#isClosed) throw new RequeueError()
    return new Promise((resolve, reject) => {
      const leave = () => reject(new RequeueError())
      this.#waiting.add({ botId, since: performance.now(), enter: resolve, leave })
      this.#timer ??= setInterval(() => this.#look(), vacateMilliseconds)
    })
  }

  /** Sends all back into the queue, and whoever comes from now on. */
  close(): void {
    this.#isClosed = true
    for (const waiting of this.#waiting) this.#dismiss(waiting)
    clearInterval(this.#timer)
  }

  /** Lets in who may have a slot, in the order in which they came. */
  #admit(): void {
    if (this.#isClosed) return
    const full = new Set<string>()
    for (const waiting of this.#waiting) {
      if (full.has(waiting.botId)) continue
      const slot = this.#slots.take(waiting.botId)
      if (!slot) full.add(waiting.botId)
      else {
        this.#waiting.delete(waiting)
        waiting.enter(slot)
      }
    }
  }

  #look(): void {
    this.#admit()
    const [first] = this.#waiting
    if (first === undefined) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const isFull = this.#waiting.size + this.#slots.inUse >= this.#seats
    if (isFull || performance.now() - first.since > maxMilliseconds) this.#dismiss(first)
  }

  #dismiss(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    this.#dismissed(waiting.botId)
    waiting.leave()
  }
}
