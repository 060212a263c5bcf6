import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessExit } from './crash-history.ts'
import type { Recycling, SandboxLog } from '../protocol/contract.ts'
import type { RunHandle } from './run-handle.ts'
import { sumOfMemory } from './memory.ts'
import type { SandboxProcess } from './sandbox-process.ts'

export interface ProcessSlotOptions {
  index: number
  log: SandboxLog
  recycling: Recycling
  /** Starts a process that calls `events`. */
  start(events: ProcessEvents): SandboxProcess
  /** Called when a process has died without being asked to end. */
  onExit(exit: ProcessExit): void
  /**
   * Whether another slot is replacing its process. Only one slot does so at a time, because it holds two processes
   * meanwhile.
   */
  isOtherRenewing(): boolean
}

export interface ProcessEvents {
  onDead(reason: string, early: boolean, exit: ProcessExit | undefined): void
  onBeat(): void
}

/**
 * Limits after which a healthy process is replaced, at the cost of its warm isolates. Replacement bounds small memory
 * leaks of libraries and of the process itself, and removes any undetected intruder.
 */
export const defaultRecycling: Recycling = {
  milliseconds: 6 * 60 * 60_000,
  runs: 500_000,
  overweightMilliseconds: 15_000,
  minMilliseconds: 5 * 60_000,
}

const firstRetryMilliseconds = 100
const lastRetryMilliseconds = 5000
/** How many processes may end before they are ready until the slot counts as unable to start one. */
const maxFirstStarts = 3

/**
 * Holds one process after another. When one dies, the next starts at once, or after growing pauses if processes die
 * before they are ready. A process that is being replaced takes runs until its successor is ready, then finishes its
 * own.
 */
export class ProcessSlot {
  readonly #options: ProcessSlotOptions
  readonly #abort = new AbortController()
  /** All processes that have not closed yet. */
  readonly #processes = new Set<SandboxProcess>()
  #current: SandboxProcess
  #successor: SandboxProcess | undefined
  #earlyExits = 0
  /** Resolves when another process has taken the place of the current one. */
  #replaced = Promise.withResolvers<void>()

  constructor(options: ProcessSlotOptions) {
    this.#options = options
    this.#current = this.#start()
  }

  /**
   * Resolves when a process can take runs. One that ends before that may have been killed, for instance for its memory, so
   * its successors are waited for as well.
   *
   * @throws Error when several of them have ended
   */
  async ready(): Promise<void> {
    for (let starts = 1; ; starts++) {
      const replaced = this.#replaced.promise
      try {
        return await this.#current.ready
      } catch (error) {
        if (starts === maxFirstStarts || this.#abort.signal.aborted) throw error
        await replaced
      }
    }
  }

  get isRenewing(): boolean {
    return this.#successor !== undefined
  }

  get residentBytes(): number {
    return sumOfMemory(this.#processes)
  }

  /** The process that holds the root of this run tree. */
  holding(runTree: string): SandboxProcess | undefined {
    for (const process of this.#processes) if (process.holds(runTree)) return process
    return undefined
  }

  /** Waits for a process that is starting. Interrupts the run if the process cannot start. */
  async assign(run: RunHandle): Promise<void> {
    const process = this.#current
    try {
      await process.ready
      if (this.#abort.signal.aborted) run.interrupt('the sandbox is closed', 0)
      else if (process.dead || process !== this.#current) await this.assign(run)
      else process.take(run)
    } catch (error) {
      if (!run.ended) run.interrupt(error instanceof Error ? error.message : String(error), 0)
    }
  }

  async close(): Promise<void> {
    this.#abort.abort()
    for (const process of this.#processes) process.end('the sandbox is closed')
    await Promise.all(Array.from(this.#processes, (process) => process.closed))
  }

  #start(): SandboxProcess {
    const process: SandboxProcess = this.#options.start({
      onDead: (reason, early, exit) => void this.#died(process, reason, early, exit),
      onBeat: () => this.#renewWhenDue(process),
    })
    this.#processes.add(process)
    void process.closed.then(() => this.#processes.delete(process))
    void this.#becameReady(process)
    return process
  }

  async #becameReady(process: SandboxProcess): Promise<void> {
    try {
      await process.ready
    } catch {
      // `onDead` reports the failure.
      return
    }
    const milliseconds = Math.round(performance.now() - process.startedAt)
    const { log, index } = this.#options
    log('info', 'A sandbox process is ready', { slot: index, sandboxPid: process.pid, milliseconds })
    if (process === this.#successor) this.#succeed(process)
  }

  async #died(process: SandboxProcess, reason: string, early: boolean, exit: ProcessExit | undefined): Promise<void> {
    if (this.#abort.signal.aborted) return
    if (exit !== undefined) this.#options.onExit(exit)
    if (process === this.#successor) this.#successor = undefined
    if (process !== this.#current) return
    this.#earlyExits = early ? this.#earlyExits + 1 : 0
    this.#options.log('warn', 'A sandbox process died and is replaced', {
      slot: this.#options.index,
      sandboxPid: process.pid,
      reason,
    })
    if (this.#successor !== undefined) return this.#succeed(this.#successor)
    if (early) {
      const pause = firstRetryMilliseconds * 2 ** (this.#earlyExits - 1)
      await sleep(Math.min(pause, lastRetryMilliseconds), undefined, { signal: this.#abort.signal }).catch(() => {})
      if (this.#abort.signal.aborted) return
    }
    this.#current = this.#start()
    this.#replaced.resolve()
    this.#replaced = Promise.withResolvers()
  }

  #renewWhenDue(process: SandboxProcess): void {
    if (process !== this.#current || this.#successor !== undefined || this.#options.isOtherRenewing()) return
    const reason = this.#reasonToRenew(process)
    if (reason === undefined) return
    const { log, index } = this.#options
    log('info', `A sandbox process is replaced: ${reason}`, {
      slot: index,
      sandboxPid: process.pid,
      runs: process.runs,
    })
    this.#successor = this.#start()
  }

  #reasonToRenew(process: SandboxProcess): string | undefined {
    const { recycling } = this.#options
    const age = performance.now() - process.startedAt
    if (age > recycling.milliseconds) return 'it has reached its maximum age'
    if (process.runs >= recycling.runs) return 'it has reached its maximum number of runs'
    const isOverweight = process.overweightMilliseconds > recycling.overweightMilliseconds
    return isOverweight && age > recycling.minMilliseconds ? 'it uses too much memory' : undefined
  }

  #succeed(successor: SandboxProcess): void {
    this.#successor = undefined
    const former = this.#current
    this.#current = successor
    former.retire()
  }
}
