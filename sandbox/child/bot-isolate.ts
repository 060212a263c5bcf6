import type { Isolate, Ivm } from './isolated-vm.ts'
import type { Realm } from './realm.ts'
import { Realms } from './realms.ts'
import type { Scripts } from './scripts.ts'
import { CpuAccounting } from './cpu-accounting.ts'
import type { Entrance, Turn, TurnOwner, Turns } from './turn.ts'

export interface IsolateEvents {
  /** The kernel of a realm has posted a message. */
  posted(realm: Realm, kind: string, run: string, first: string, second: string | ArrayBuffer): void
  turnStarted(): void
  turnEnded(turn: Turn): void
  /** The owner of an ended turn has been charged for all of its processor time. */
  turnCharged(turn: Turn): void
  /** V8 ended the isolate for its memory; `turn` is the turn in which that happened. */
  outOfMemory(turn: Turn | undefined): void
  /**
   * The isolate's thread cannot be stopped. Milliseconds: `turn` from the turn's start to the request to stop, `waited`
   * since that request.
   */
  stuck(reason: string, turn: number, waited: number): void
}

export interface IsolateOptions {
  ivm: Ivm
  scripts: Scripts
  memoryMegabytes: number
  events: IsolateEvents
}

/**
 * Time for the thread to leave a disposed isolate. Measured on two busy cores: a thread that leaves does so within 130
 * ms.
 */
const canaryMilliseconds = 300
/**
 * With ten times as many runnable threads as cores, 300 ms were too few: a thread without processor time cannot leave.
 * So the process must also have used that much processor time, or this much wall time must have passed. With 900 ms, a
 * hostile program beside other tests sometimes cost its neighbours the process.
 */
const longestCanaryMilliseconds = 2400
const canaryStepMilliseconds = 50

const fresh = { startedAt: 0, reportedLong: false, isSuspected: false }

/** Turns that the isolate's thread is given at once, so that it is not woken for each of them. */
const maxEntered = 16

/**
 * One isolate, in which turns follow one another: the owner of a turn is charged for its processor time, and its
 * failures, such as a full heap, are attributed to the owner. The thread takes several waiting turns at once, and
 * reports the end of each.
 *
 * No turn uses isolated-vm's timeout: that measures wall time, so that busy neighbours would fail a run, and leaves a
 * timer behind for each turn. The watchdog reads the processor time instead, and disposes the isolate, which stops
 * everything that a timeout stops (measured: loops, promise loops, slow builtins, after 0 to 130 ms). A thread that
 * disposal does not stop is stuck permanently, and the process has to be killed.
 */
export class BotIsolate implements Turns {
  /** Set by the first disposal, whatever its reason. */
  dead = false
  turn: Turn | undefined
  /** The id of the bundle that the isolate holds; empty before it has one. */
  bundle = ''
  readonly realms: Realms

  readonly #isolate: Isolate
  readonly #events: IsolateEvents
  readonly #waiting: Turn[] = []
  /** The turns that the thread has been given, the current one first. */
  readonly #entered: Turn[] = []
  /** Callbacks that wait for the turn to end, or for the thread to leave. */
  readonly #afterwards: (() => void)[] = []
  #stopping = false
  readonly #accounting: CpuAccounting

  constructor({ ivm, scripts, memoryMegabytes, events }: IsolateOptions) {
    this.#events = events
    this.#isolate = new ivm.Isolate({
      memoryLimit: memoryMegabytes,
      onCatastrophicError: () => this.#catastrophe(),
    })
    this.#accounting = new CpuAccounting(this.#isolate, (turn) => events.turnCharged(turn))
    this.realms = new Realms(this, this.#isolate, { ivm, scripts, posted: (...said) => events.posted(...said) })
  }

  /** Enters the isolate once, after all earlier turns, unless the owner has ended by then. */
  enter(owner: TurnOwner, entrance: Entrance): void {
    this.#enter({ owner, enter: entrance, isExclusive: false, ...fresh })
  }

  /** As `enter`, for work that enters the isolate several times. */
  enterExclusively(owner: TurnOwner, work: () => Promise<void>): void {
    this.#enter({ owner, enter: work, isExclusive: true, ...fresh })
  }

  #enter(turn: Turn): void {
    if (this.dead) return
    this.#waiting.push(turn)
    this.#enterNext()
  }

  /** Processor time of the owner, the current turn included. */
  cpuOf(owner: TurnOwner): number {
    const current = this.turn?.owner.cpu === owner.cpu ? this.#accounting.ofCurrent : 0
    return owner.cpu.used + current
  }

  /** Disposes the isolate. The current turn ends within moments, or the isolate is stuck. */
  dispose(): void {
    if (this.dead) return
    this.dead = true
    this.#waiting.length = 0
    this.#accounting.read()
    if (!this.#isolate.isDisposed) this.#isolate.dispose()
    if (this.turn !== undefined) this.#awaitThreadEnd()
  }

  /**
   * Whether V8 has disposed the isolate for its memory while its thread continues: a slow builtin does not notice, and
   * may take for ever. The isolate's processor time is unknown from then on.
   */
  get hasLostIsolate(): boolean {
    return !this.dead && this.#isolate.isDisposed
  }

  /** Ends an isolate that V8 has disposed. Its thread leaves within moments, or is stuck. */
  abandon(): void {
    if (this.turn !== undefined) this.#awaitThreadEnd()
    this.#outOfMemory(this.turn)
  }

  #awaitThreadEnd(): void {
    this.#stopping = true
    const stopRequestedAt = performance.now()
    const usedBefore = process.cpuUsage()
    const look = () => {
      if (!this.#stopping) return
      const { user, system } = process.cpuUsage(usedBefore)
      const wasScheduled = (user + system) / 1000 >= canaryMilliseconds
      if (!wasScheduled && performance.now() - stopRequestedAt < longestCanaryMilliseconds) {
        return void setTimeout(look, canaryStepMilliseconds)
      }
      this.#threadEnded()
      this.#stuck('a thread did not stop', stopRequestedAt)
    }
    setTimeout(look, canaryMilliseconds)
  }

  /** Calls back at once, or, while the thread is being stopped, when it has left or is known to be stuck. */
  whenThreadEnded(callback: () => void): void {
    if (this.#stopping) this.#afterwards.push(callback)
    else callback()
  }

  /**
   * Calls back when the current turn has ended and the owner knows of its failure. If the isolate is disposed before, it
   * calls back as `whenThreadEnded`.
   */
  whenTurnEnded(callback: () => void): void {
    if (this.#stopping || this.turn !== undefined) this.#afterwards.push(callback)
    else callback()
  }

  #threadEnded(): void {
    this.#stopping = false
    this.#callBack()
  }

  #callBack(): void {
    for (const callback of this.#afterwards.splice(0)) callback()
  }

  #enterNext(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#accepts(next); next = this.#waiting[0]) {
      this.#waiting.shift()
      const entered = next.owner.endedAt === undefined ? next.enter() : undefined
      if (entered === undefined) continue
      const turn = next
      if (this.#entered.push(turn) === 1) this.#begin(turn)
      entered.then(
        (began) => this.#ended(turn, began),
        (thrown: unknown) => this.#ended(turn, undefined, { thrown }),
      )
    }
  }

  #accepts(turn: Turn): boolean {
    const [first] = this.#entered
    return first === undefined || (!first.isExclusive && !turn.isExclusive && this.#entered.length < maxEntered)
  }

  #begin(turn: Turn): void {
    this.turn = turn
    turn.startedAt = performance.now()
    this.#accounting.begin()
    this.#events.turnStarted()
  }

  #ended(turn: Turn, began: unknown, failure?: { thrown: unknown }): void {
    if (failure !== undefined && !this.dead && !this.#isolate.isDisposed) turn.owner.threw(failure.thrown)
    // Before the accounting, so that the worker reads the end of a run meanwhile.
    if (!this.#stopping) this.#callBack()
    this.#accounting.end(turn, began)
    this.#entered.shift()
    this.turn = undefined
    const [next] = this.#entered
    if (next !== undefined) this.#begin(next)
    else {
      this.#accounting.settle()
      this.#threadEnded()
    }
    this.#events.turnEnded(turn)
    if (this.dead) return
    // All other code sets `dead` when it disposes the isolate, so V8 has run out of memory. The thread may have
    // continued with the next turns, in one of which that happened.
    if (this.#isolate.isDisposed) return failure || !next ? this.#outOfMemory(turn) : undefined
    this.#enterNext()
  }

  /** V8 has given up the isolate and parked its thread permanently. Without timeouts, memory is the only cause. */
  #catastrophe(): void {
    this.#threadEnded()
    this.#outOfMemory(this.turn)
    this.#stuck('an isolate ran out of memory and its thread cannot end', performance.now())
  }

  #stuck(reason: string, stopRequestedAt: number): void {
    const turn = stopRequestedAt - (this.turn?.startedAt ?? stopRequestedAt)
    this.#events.stuck(reason, Math.round(turn), Math.round(performance.now() - stopRequestedAt))
  }

  #outOfMemory(turn: Turn | undefined): void {
    if (this.dead) return
    this.dead = true
    this.#waiting.length = 0
    this.#events.outOfMemory(turn)
  }
}
