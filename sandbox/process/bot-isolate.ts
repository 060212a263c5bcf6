import { randomBytes } from 'node:crypto'
import type { ClientOperation } from '../contract.ts'
import type { KernelSettings } from '../inside/kernel.ts'
import type { BundleSource } from '../protocol.ts'
import type { Context, Isolate, Ivm, Reference } from './isolated-vm.ts'
import type { Preludes } from './preludes.ts'

/** Processor time: what may be used, and what has been. */
export interface CpuBudget {
  readonly limit: number
  used: number
}

/** Whom a turn belongs to: who pays for it, and who is to blame for what happens in it. */
export interface TurnOwner {
  /** The run to blame should the process die of this turn. */
  readonly id: string
  readonly cpu: CpuBudget
  /** When it ended, by `performance.now()`; a turn that goes on long after that is stopped. */
  endedAt: number | undefined
  /** Its turn took the last of its processor time, or of the isolate's memory. */
  exceeded(limit: 'cpu' | 'memory'): void
  /** Its turn ended with what the kernel does not catch: a syntax error, or a rejection that bot code forgot. */
  threw(thrown: unknown): void
}

export interface Turn {
  owner: TurnOwner
  enter(): Promise<unknown>
  startedAt: number
  reportedLong: boolean
}

type Dispatch = (operation: string, ...values: unknown[]) => string

export interface IsolateEvents {
  /** The kernel says something; always strings. */
  posted(kind: string, run: string, first: string, second: string): void
  turnStarted(): void
  turnEnded(turn: Turn): void
  /** V8 ended the isolate for its memory; `turn` is the one it happened in. */
  outOfMemory(turn: Turn | undefined): void
  /** Its thread can not be stopped. */
  stuck(reason: string): void
}

export interface IsolateOptions {
  ivm: Ivm
  inside: string
  preludes: Preludes
  operations: ClientOperation[]
  memoryMegabytes: number
  events: IsolateEvents
}

/** Of the random numbers of an isolate. */
const seedBytes = 32

/** An isolate whose thread leaves it does so within 130 ms of its disposal, measured on two busy cores. */
const canaryMilliseconds = 300

/**
 * One isolate, entered one turn at a time: whoever's turn it is pays for the processor time, and is to blame when the
 * heap is full.
 *
 * No turn has a timeout of isolated-vm's own: that measures time on the wall, so that busy neighbours would make a run
 * fail, and leaves a timer behind for each turn. The watchdog reads the processor time instead, and disposes the
 * isolate, which stops everything that a timeout stops (measured: loops, promise loops, slow builtins, after 0 to
 * 130 ms). What it does not stop is stuck for good, and the process has to go.
 */
export class BotIsolate {
  /** Set by the first disposal, for whatever reason. */
  dead = false
  turn: Turn | undefined

  readonly #isolate: Isolate
  readonly #options: IsolateOptions
  readonly #waiting: Turn[] = []
  /** What waits for the thread to leave. */
  readonly #afterwards: (() => void)[] = []
  #taking = false
  #stopping = false
  #dispatch: Reference<Dispatch> | undefined
  #turnStartedCpu = 0
  #lastCpu = 0

  constructor(options: IsolateOptions) {
    this.#options = options
    this.#isolate = new options.ivm.Isolate({
      memoryLimit: options.memoryMegabytes,
      onCatastrophicError: () => this.#catastrophe(),
    })
  }

  /** Enters the isolate when all turns before this one are over, unless the owner has ended by then. */
  enter(owner: TurnOwner, work: () => Promise<unknown>): void {
    if (this.dead) return
    this.#waiting.push({ owner, enter: work, startedAt: 0, reportedLong: false })
    if (!this.#taking) void this.#takeTurns()
  }

  /** Has the kernel do something, in a turn. */
  dispatch(owner: TurnOwner, operation: string, ...texts: string[]): void {
    this.enter(owner, async () => this.#dispatch?.apply(undefined, [operation, ...texts]))
  }

  /**
   * Starts the kernel and evaluates the bundle, and before it the prelude that it needs; for use inside a turn. Resolves
   * to the error of the bundle's own, as text, or to nothing; throws when the bundle does not compile.
   */
  async load(source: BundleSource): Promise<string> {
    const { kind, code, environment } = source
    const { operations, preludes } = this.#options
    const prelude = preludes.for(source)
    const context = await this.#isolate.createContext()
    const seed = prelude === undefined ? '' : randomBytes(seedBytes).toString('hex')
    await this.#openKernel(context, { operations, kind, environment, seed })
    if (prelude !== undefined) {
      const failed = await this.#define('prelude', await prelude.evaluate(this.#isolate, context))
      if (failed !== '') throw new Error(`The prelude failed: ${failed}`)
    }
    const script = await this.#isolate.compileScript(`(function (module, exports, require) {\n${code}\n})`, {
      filename: 'bot.js',
      lineOffset: -1,
    })
    const wrapper: Reference<unknown> = await script.run(context, { reference: true })
    script.release()
    return this.#define('bundle', wrapper)
  }

  async #openKernel(context: Context, settings: KernelSettings): Promise<void> {
    const { ivm, inside, events } = this.#options
    const post = new ivm.Callback(
      (kind: unknown, run: unknown, first: unknown, second: unknown) => {
        if (!this.dead) events.posted(String(kind), String(run), String(first), String(second))
      },
      { ignored: true },
    )
    this.#dispatch = await context.evalClosure(
      `'use strict'; ${inside}; return inside.open($0, $1)`,
      [post, JSON.stringify(settings)],
      { filename: 'kernel', result: { reference: true } },
    )
  }

  /** Gives the kernel the function that a script ended with; resolves to the text of the error it threw, or to nothing. */
  async #define(what: 'prelude' | 'bundle', wrapper: Reference<unknown>): Promise<string> {
    const error: unknown = await this.#dispatch?.apply(undefined, [what, wrapper.derefInto()])
    wrapper.release()
    return typeof error === 'string' ? error : ''
  }

  /** Processor time of the owner, the turn under way included. */
  cpuOf(owner: TurnOwner): number {
    const current = this.turn?.owner.cpu === owner.cpu ? this.#cpu() - this.#turnStartedCpu : 0
    return owner.cpu.used + current
  }

  /** Throws the isolate away; a turn under way ends within moments, or the isolate is stuck. */
  dispose(): void {
    if (this.dead) return
    this.dead = true
    this.#waiting.length = 0
    this.#cpu()
    if (!this.#isolate.isDisposed) this.#isolate.dispose()
    this.#dispatch = undefined
    if (this.turn === undefined) return
    this.#stopping = true
    setTimeout(() => {
      if (!this.#stopping) return
      this.#left()
      this.#options.events.stuck('a thread did not stop')
    }, canaryMilliseconds)
  }

  /** Calls back at once, or when the thread that was told to stop has left or is known to be stuck. */
  whenLeft(callback: () => void): void {
    if (this.#stopping) this.#afterwards.push(callback)
    else callback()
  }

  #left(): void {
    this.#stopping = false
    for (const callback of this.#afterwards.splice(0)) callback()
  }

  async #takeTurns(): Promise<void> {
    this.#taking = true
    for (let turn = this.#waiting.shift(); turn !== undefined; turn = this.#waiting.shift()) {
      if (turn.owner.endedAt === undefined) await this.#take(turn)
    }
    this.#taking = false
  }

  async #take(turn: Turn): Promise<void> {
    const { events } = this.#options
    this.turn = turn
    turn.startedAt = performance.now()
    this.#turnStartedCpu = this.#cpu()
    events.turnStarted()
    let thrown: unknown
    let threw = false
    try {
      await turn.enter()
    } catch (error) {
      threw = true
      thrown = error
    }
    turn.owner.cpu.used += this.#cpu() - this.#turnStartedCpu
    this.turn = undefined
    this.#left()
    events.turnEnded(turn)
    if (this.dead) return
    // Nobody else disposes it without setting `dead`.
    if (this.#isolate.isDisposed) this.#outOfMemory(turn)
    else if (threw) turn.owner.threw(thrown)
  }

  /** V8 has given up on the isolate and parked its thread for ever. Without timeouts, memory is the only cause. */
  #catastrophe(): void {
    this.#left()
    this.#outOfMemory(this.turn)
    this.#options.events.stuck('an isolate ran out of memory beyond recovery')
  }

  #outOfMemory(turn: Turn | undefined): void {
    if (this.dead) return
    this.dead = true
    this.#waiting.length = 0
    this.#options.events.outOfMemory(turn)
  }

  #cpu(): number {
    if (!this.#isolate.isDisposed) this.#lastCpu = Number(this.#isolate.cpuTime) / 1e6
    return this.#lastCpu
  }
}
