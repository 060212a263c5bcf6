import type { BotIsolate } from './bot-isolate.ts'
import type { Turn } from './turn.ts'

export interface WatchdogEvents {
  /** A turn has used up its owner's processor time. */
  overspent(isolate: BotIsolate, turn: Turn): void
  /** A turn continues although its owner has ended. */
  lingering(isolate: BotIsolate, turn: Turn): void
  /** A turn has exceeded the time from which it counts as long. */
  long(turn: Turn): void
}

const tickMilliseconds = 10
const longMilliseconds = 20
const lingerMilliseconds = 100

/** Polls every isolate that has a current turn. */
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
      else this.#look(isolate, turn)
    }
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(isolate: BotIsolate, turn: Turn): void {
    if (!turn.reportedLong && performance.now() - turn.startedAt > longMilliseconds) {
      turn.reportedLong = true
      this.#events.long(turn)
    }
    const remedy = this.#remedyFor(isolate, turn)
    // The isolate's thread may already be in later turns, if this process's main thread was busy; the next look then
    // finds that out.
    if (turn.isSuspected) remedy?.()
    turn.isSuspected = remedy !== undefined
  }

  #remedyFor(isolate: BotIsolate, turn: Turn): (() => void) | undefined {
    const { cpu, endedAt } = turn.owner
    if (isolate.hasLostIsolate) return () => isolate.abandon()
    if (isolate.cpuOf(turn.owner) >= cpu.limit) return () => this.#events.overspent(isolate, turn)
    const lingers = endedAt !== undefined && performance.now() - endedAt > lingerMilliseconds
    return lingers ? () => this.#events.lingering(isolate, turn) : undefined
  }
}
