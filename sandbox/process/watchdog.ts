import type { BotIsolate, Turn } from './bot-isolate.ts'

export interface WatchdogEvents {
  /** A turn has used up its owner's processor time. */
  overspent(isolate: BotIsolate, turn: Turn): void
  /** A turn goes on although its owner has ended. */
  lingering(isolate: BotIsolate, turn: Turn): void
  /** A turn has begun to take long. */
  long(turn: Turn): void
}

const tickMilliseconds = 10
const longMilliseconds = 20
const lingerMilliseconds = 100

/** Looks at every isolate with a turn under way, again and again while there is one. */
export class Watchdog {
  readonly #events: WatchdogEvents
  readonly #watched = new Set<BotIsolate>()
  #timer: NodeJS.Timeout | undefined

  constructor(events: WatchdogEvents) {
    this.#events = events
  }

  watch(isolate: BotIsolate): void {
    this.#watched.add(isolate)
    this.#timer ??= setInterval(() => this.#tick(), tickMilliseconds)
  }

  #tick(): void {
    for (const isolate of this.#watched) {
      const { turn } = isolate
      if (turn === undefined || isolate.dead) this.#watched.delete(isolate)
      else if (isolate.hasLostIsolate) isolate.giveUp()
      else this.#look(isolate, turn)
    }
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(isolate: BotIsolate, turn: Turn): void {
    const now = performance.now()
    if (!turn.reportedLong && now - turn.startedAt > longMilliseconds) {
      turn.reportedLong = true
      this.#events.long(turn)
    }
    const { cpu, endedAt } = turn.owner
    if (isolate.cpuOf(turn.owner) >= cpu.limit) this.#events.overspent(isolate, turn)
    else if (endedAt !== undefined && now - endedAt > lingerMilliseconds) this.#events.lingering(isolate, turn)
  }
}
