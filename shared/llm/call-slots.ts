interface Waiting {
  botId: string
  enter(): void
}

/** Upper bound of the calls of a bot that wait, for each slot that it may have. */
const waitingForEachSlot = 2

/**
 * Bounds the calls of one provider that are in flight. A bot has at most half of the slots, so that one bot does not use
 * up the rate of the operator's account; the others wait in order of arrival, a bounded number of each bot: a request that
 * waits takes up room in the process.
 */
export class CallSlots {
  readonly #max: number
  readonly #maxOfBot: number
  #taken = 0
  readonly #ofBots = new Map<string, number>()
  #waiting: Waiting[] = []

  constructor(max: number) {
    this.#max = max
    this.#maxOfBot = Math.ceil(max / 2)
  }

  get taken(): number {
    return this.#taken
  }

  /**
   * Resolves when the bot has a slot.
   *
   * @returns a function that gives the slot back, once; false when it was given back before
   * @throws Error when too many calls of the bot wait already; the reason of the signal when it is aborted before
   */
  async take(botId: string, signal: AbortSignal): Promise<() => boolean> {
    signal.throwIfAborted()
    if (this.#isFree(botId)) this.#enter(botId)
    else if (this.#waitingOf(botId) < waitingForEachSlot * this.#maxOfBot) await this.#turn(botId, signal)
    else throw new Error('Too many calls of the bot wait')
    let isTaken = true
    return () => {
      const wasTaken = isTaken
      if (isTaken) this.#leave(botId)
      isTaken = false
      return wasTaken
    }
  }

  #waitingOf(botId: string): number {
    return this.#waiting.filter((one) => one.botId === botId).length
  }

  #turn(botId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)))
      }
      const waiting: Waiting = {
        botId,
        enter: () => {
          signal.removeEventListener('abort', leaveQueue)
          this.#enter(botId)
          resolve()
        },
      }
      this.#waiting.push(waiting)
      signal.addEventListener('abort', leaveQueue, { once: true })
    })
  }

  #isFree(botId: string): boolean {
    return this.#taken < this.#max && (this.#ofBots.get(botId) ?? 0) < this.#maxOfBot
  }

  #enter(botId: string): void {
    this.#taken += 1
    this.#ofBots.set(botId, (this.#ofBots.get(botId) ?? 0) + 1)
  }

  #leave(botId: string): void {
    this.#taken -= 1
    const left = this.#ofBots.get(botId)! - 1
    if (left === 0) this.#ofBots.delete(botId)
    else this.#ofBots.set(botId, left)
    const next = this.#waiting.find((one) => this.#isFree(one.botId))
    if (!next) return
    this.#waiting = this.#waiting.filter((one) => one !== next)
    next.enter()
  }
}
