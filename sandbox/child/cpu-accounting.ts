import type { Turn } from './turn.ts'
import type { Isolate } from './isolated-vm.ts'

/** A turn that is over, until it is known when the next began: the thread may have gone on before this one noticed. */
interface Unsettled {
  turn: Turn
  began: number | undefined
  noticedAt: number
  /** What the clock said when it was noticed. */
  time: number
}

/** Charges the processor time of an isolate to the turns that follow each other in it. */
export class CpuAccounting {
  readonly #clock: IsolateClock
  readonly #charged: (turn: Turn) => void
  #unsettled: Unsettled | undefined
  /** Until when, by the clock, processor time was charged to somebody. */
  #chargedUntil = 0
  /** The clock at the start of the current turn, as far as this thread knows. */
  #startedAt = 0

  /** @param charged all processor time of a turn is its owner's by now */
  constructor(isolate: Isolate, charged: (turn: Turn) => void) {
    this.#clock = new IsolateClock(isolate)
    this.#charged = charged
  }

  /** Milliseconds of the current turn: at least those that are not the former one's. */
  get ofCurrent(): number {
    return this.#clock.read() - this.#startedAt
  }

  /** Another turn is current from now on, as far as this thread knows. */
  begin(): void {
    this.#startedAt = this.#clock.read()
    if (this.#unsettled === undefined) this.#chargedUntil = this.#startedAt
  }

  /** A turn is over. @param began when it began, in milliseconds since 1970, where that is known */
  end(turn: Turn, began: unknown): void {
    const known = typeof began === 'number' ? began : undefined
    this.#charge(known)
    this.#unsettled = { turn, began: known, noticedAt: Date.now(), time: this.#clock.read() }
  }

  /** No turn has followed the last one. */
  settle(): void {
    this.#charge()
  }

  /** Reads the clock once more while there is one. */
  read(): void {
    this.#clock.read()
  }

  /** What was used until the end of a turn was noticed is its own, but for what the next had used of it by then. */
  #charge(nextBegan?: number): void {
    if (this.#unsettled === undefined) return
    const { turn, began, noticedAt, time } = this.#unsettled
    this.#unsettled = undefined
    const isShared = began !== undefined && nextBegan !== undefined && began < noticedAt
    const share = isShared ? Math.min(Math.max((nextBegan - began) / (noticedAt - began), 0), 1) : 1
    const spent = (time - this.#chargedUntil) * share
    this.#chargedUntil += spent
    turn.owner.cpu.used += spent
    this.#charged(turn)
  }
}

/**
 * The processor time that was used in an isolate. While a thread is in it, isolated-vm tells the time on the wall, in
 * which neighbours may have had the processor; all of this process's processor time is a bound that they do not move.
 */
class IsolateClock {
  readonly #isolate: Isolate
  #isolateTime = 0
  #processTime = 0
  #time = 0

  constructor(isolate: Isolate) {
    this.#isolate = isolate
  }

  /** @returns milliseconds that only grow */
  read(): number {
    const isolateTime = this.#isolate.isDisposed ? this.#isolateTime : Number(this.#isolate.cpuTime) / 1e6
    const { user, system } = process.cpuUsage()
    const processTime = (user + system) / 1000
    this.#time += Math.max(Math.min(isolateTime - this.#isolateTime, processTime - this.#processTime), 0)
    this.#isolateTime = isolateTime
    this.#processTime = processTime
    return this.#time
  }
}
