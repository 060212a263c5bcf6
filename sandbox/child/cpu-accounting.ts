import type { Turn } from './turn.ts'
import type { Isolate } from './isolated-vm.ts'

/**
 * An ended turn whose share is not settled before the start of the next turn is known: the isolate's thread may have
 * continued before this thread noticed the end.
 */
interface Unsettled {
  turn: Turn
  began: number | undefined
  noticedAt: number
  /** The clock when the end was noticed. */
  time: number
}

/** Charges the processor time of an isolate to the turns that follow each other in it. */
export class CpuAccounting {
  readonly #clock: IsolateClock
  readonly #charged: (turn: Turn) => void
  #unsettled: Unsettled | undefined
  /** The clock up to which processor time has been charged. */
  #chargedUntil = 0
  /** The clock at the start of the current turn, as far as this thread knows. */
  #startedAt = 0

  /** @param charged called when the owner of a turn has been charged for all of it */
  constructor(isolate: Isolate, charged: (turn: Turn) => void) {
    this.#clock = new IsolateClock(isolate)
    this.#charged = charged
  }

  /** Milliseconds of the current turn, without any that may belong to the previous one. */
  get ofCurrent(): number {
    return this.#clock.read() - this.#startedAt
  }

  /** Begins another turn, as far as this thread knows. */
  begin(): void {
    this.#startedAt = this.#clock.read()
    if (this.#unsettled === undefined) this.#chargedUntil = this.#startedAt
  }

  /** Ends a turn. @param began when it began, in milliseconds since 1970, where that is known */
  end(turn: Turn, began: unknown): void {
    const known = typeof began === 'number' ? began : undefined
    this.#charge(known)
    this.#unsettled = { turn, began: known, noticedAt: Date.now(), time: this.#clock.read() }
  }

  /** Settles the last turn, which no other turn has followed. */
  settle(): void {
    this.#charge()
  }

  /** Reads the clock once more before the isolate is disposed. */
  read(): void {
    this.#clock.read()
  }

  /**
   * Charges an ended turn for the time until its end was noticed, without the share that the next turn had used by
   * then.
   */
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
 * The processor time used in an isolate. While a thread is in the isolate, isolated-vm reports wall time, during which
 * other threads may have had the processor. The processor time of the whole process is an upper bound that other
 * processes do not affect.
 */
class IsolateClock {
  readonly #isolate: Isolate
  #isolateTime = 0
  #processTime = 0
  #time = 0

  constructor(isolate: Isolate) {
    this.#isolate = isolate
  }

  /** @returns milliseconds, never decreasing */
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
