import type { Isolate, Ivm } from './isolated-vm.ts'
import type { Realm } from './realm.ts'
import { Realms } from './realms.ts'
import type { Scripts } from './scripts.ts'
import { CpuAccounting } from './cpu-accounting.ts'
import type { Entrance, Turn, TurnOwner, Turns } from './turn.ts'

export interface IsolateEvents {
  /** The kernel of a realm says something; always strings. */
  posted(realm: Realm, kind: string, run: string, first: string, second: string): void
  turnStarted(): void
  turnEnded(turn: Turn): void
  /** All processor time of a turn that has ended is its owner's by now. */
  turnCharged(turn: Turn): void
  /** V8 ended the isolate for its memory; `turn` is the one it happened in. */
  outOfMemory(turn: Turn | undefined): void
  /**
   * Its thread can not be stopped. `turn` and `waited` are milliseconds: of the turn until the request to stop, and of
   * the wait since.
   */
  stuck(reason: string, turn: number, waited: number): void
}

export interface IsolateOptions {
  ivm: Ivm
  scripts: Scripts
  memoryMegabytes: number
  events: IsolateEvents
}

/** An isolate whose thread leaves it does so within 130 ms of its disposal, measured on two busy cores. */
const canaryMilliseconds = 300
/**
 * Where ten times as much wants to run as there are cores, 300 ms were too few: a thread that gets no turn cannot leave.
 * So the process must have used so much processor time as well, or this much must have passed.
 */
const longestCanaryMilliseconds = 900
const canaryStepMilliseconds = 50

const fresh = { startedAt: 0, reportedLong: false, isSuspected: false }

/** So many turns are given to the isolate's thread at once: it is not woken for each of them. */
const maxGiven = 16

/**
 * One isolate, in which one turn follows another: the owner of the turn is charged for the processor time, and for a full
 * heap. Its thread takes several turns at once where several wait, and reports the end of each.
 *
 * No turn has a timeout of isolated-vm's own: that measures time on the wall, so that busy neighbours would make a run
 * fail, and leaves a timer behind for each turn. The watchdog reads the processor time instead, and disposes the
 * isolate, which stops everything that a timeout stops (measured: loops, promise loops, slow builtins, after 0 to
 * 130 ms). What it does not stop is stuck for good, and the process has to go.
 */
export class BotIsolate implements Turns {
  /** Set by the first disposal, for whatever reason. */
  dead = false
  turn: Turn | undefined
  /** What it is for; empty while it is for none. */
  bundle = ''
  readonly realms: Realms

  readonly #isolate: Isolate
  readonly #events: IsolateEvents
  readonly #waiting: Turn[] = []
  /** The turns that the thread was given, the current one first. */
  readonly #given: Turn[] = []
  /** What waits for the thread to leave. */
  readonly #afterwards: (() => void)[] = []
  #stopping = false
  readonly #costs: CpuAccounting

  constructor({ ivm, scripts, memoryMegabytes, events }: IsolateOptions) {
    this.#events = events
    this.#isolate = new ivm.Isolate({
      memoryLimit: memoryMegabytes,
      onCatastrophicError: () => this.#catastrophe(),
    })
    this.#costs = new CpuAccounting(this.#isolate, (turn) => events.turnCharged(turn))
    this.realms = new Realms(this, this.#isolate, { ivm, scripts, posted: (...said) => events.posted(...said) })
  }

  /** Enters the isolate once, after all turns before this one, unless the owner has ended by then. */
  enter(owner: TurnOwner, entrance: Entrance): void {
    this.#enter({ owner, enter: entrance, isAlone: false, ...fresh })
  }

  /** Likewise, for what enters it several times. */
  enterAlone(owner: TurnOwner, work: () => Promise<void>): void {
    this.#enter({ owner, enter: work, isAlone: true, ...fresh })
  }

  #enter(turn: Turn): void {
    if (this.dead) return
    this.#waiting.push(turn)
    this.#give()
  }

  /** Processor time of the owner, the current turn included. */
  cpuOf(owner: TurnOwner): number {
    const current = this.turn?.owner.cpu === owner.cpu ? this.#costs.ofCurrent : 0
    return owner.cpu.used + current
  }

  /** Disposes the isolate; the current turn ends within moments, or the isolate is stuck. */
  dispose(): void {
    if (this.dead) return
    this.dead = true
    this.#waiting.length = 0
    this.#costs.read()
    if (!this.#isolate.isDisposed) this.#isolate.dispose()
    if (this.turn !== undefined) this.#expectToLeave()
  }

  /**
   * Whether V8 has given up on the isolate for its memory while its thread goes on: a slow builtin does not notice, and
   * may take for ever. Nothing is known of its processor time any more.
   */
  get hasLostIsolate(): boolean {
    return !this.dead && this.#isolate.isDisposed
  }

  /** Ends an isolate that V8 has given up on; its thread leaves within moments, or is stuck. */
  giveUp(): void {
    if (this.turn !== undefined) this.#expectToLeave()
    this.#outOfMemory(this.turn)
  }

  #expectToLeave(): void {
    this.#stopping = true
    const toldAt = performance.now()
    const usedBefore = process.cpuUsage()
    const look = () => {
      if (!this.#stopping) return
      const { user, system } = process.cpuUsage(usedBefore)
      const hadItsTurn = (user + system) / 1000 >= canaryMilliseconds
      if (!hadItsTurn && performance.now() - toldAt < longestCanaryMilliseconds) {
        return void setTimeout(look, canaryStepMilliseconds)
      }
      this.#left()
      this.#stuck('a thread did not stop', toldAt)
    }
    setTimeout(look, canaryMilliseconds)
  }

  /** Calls back at once, or when the thread that is to stop has left or is known to be stuck. */
  whenLeft(callback: () => void): void {
    if (this.#stopping) this.#afterwards.push(callback)
    else callback()
  }

  #left(): void {
    this.#stopping = false
    for (const callback of this.#afterwards.splice(0)) callback()
  }

  #give(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#takes(next); next = this.#waiting[0]) {
      this.#waiting.shift()
      const entered = next.owner.endedAt === undefined ? next.enter() : undefined
      if (entered === undefined) continue
      const turn = next
      if (this.#given.push(turn) === 1) this.#begin(turn)
      entered.then(
        (began) => this.#ended(turn, began),
        (thrown: unknown) => this.#ended(turn, undefined, { thrown }),
      )
    }
  }

  #takes(turn: Turn): boolean {
    const [first] = this.#given
    return first === undefined || (!first.isAlone && !turn.isAlone && this.#given.length < maxGiven)
  }

  #begin(turn: Turn): void {
    this.turn = turn
    turn.startedAt = performance.now()
    this.#costs.begin()
    this.#events.turnStarted()
  }

  #ended(turn: Turn, began: unknown, failure?: { thrown: unknown }): void {
    this.#costs.end(turn, began)
    this.#given.shift()
    this.turn = undefined
    const [next] = this.#given
    if (next !== undefined) this.#begin(next)
    else {
      this.#costs.settle()
      this.#left()
    }
    this.#events.turnEnded(turn)
    if (this.dead) return
    // Nobody else disposes it without setting `dead`. The thread may have gone on: then it was in one of the next turns.
    if (this.#isolate.isDisposed) return failure || !next ? this.#outOfMemory(turn) : undefined
    if (failure !== undefined) turn.owner.threw(failure.thrown)
    this.#give()
  }

  /** V8 has given up on the isolate and parked its thread for ever. Without timeouts, memory is the only cause. */
  #catastrophe(): void {
    this.#left()
    this.#outOfMemory(this.turn)
    this.#stuck('an isolate ran out of memory beyond recovery', performance.now())
  }

  #stuck(reason: string, toldAt: number): void {
    const turn = toldAt - (this.turn?.startedAt ?? toldAt)
    this.#events.stuck(reason, Math.round(turn), Math.round(performance.now() - toldAt))
  }

  #outOfMemory(turn: Turn | undefined): void {
    if (this.dead) return
    this.dead = true
    this.#waiting.length = 0
    this.#events.outOfMemory(turn)
  }
}
