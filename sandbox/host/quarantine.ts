import { ownerKey, type ProcessExit, type Owner } from './crash-history.ts'
import type { SandboxLog } from '../protocol/contract.ts'
import type { ProcessEvents } from './process-slot.ts'
import type { RunHandle } from './run-handle.ts'
import { sumOfMemory } from './memory.ts'
import type { SandboxProcess } from './sandbox-process.ts'

export interface QuarantineOptions {
  log: SandboxLog
  start(events: ProcessEvents): SandboxProcess
  /** Called when the process of this owner's code has died without being asked to end. */
  onExit(owner: Owner, exit: ProcessExit): void
}

/**
 * Each process takes memory in addition to the slots. A run for which no process is free is interrupted and retried.
 */
const maxProcesses = 2
/** Idle time after which a process is ended. */
const idleMilliseconds = 60_000

interface QuarantineProcess {
  process: SandboxProcess
  /** Runs that wait for the process to be ready. */
  expected: number
  usedAt: number
}

/** Processes that each hold the code of one owner. They start when there are runs, and end when idle. */
export class Quarantine {
  readonly #options: QuarantineOptions
  readonly #byOwner = new Map<string, QuarantineProcess>()
  readonly #processes = new Set<SandboxProcess>()
  #isClosed = false

  constructor(options: QuarantineOptions) {
    this.#options = options
  }

  holding(runTree: string): SandboxProcess | undefined {
    for (const process of this.#processes) if (process.holds(runTree)) return process
    return undefined
  }

  get residentBytes(): number {
    return sumOfMemory(this.#processes)
  }

  /** Assigns a run to the process of its owner; interrupts the run if no process can be started. */
  async assign(run: RunHandle, owner: Owner): Promise<void> {
    const quarantined = this.#processOf(owner)
    if (quarantined === undefined) return run.interrupt('all sandbox processes for code in quarantine are busy', 0)
    quarantined.usedAt = performance.now()
    quarantined.expected += 1
    try {
      await quarantined.process.ready
      if (quarantined.process.dead) run.interrupt('its sandbox process has just died', 0)
      else quarantined.process.take(run)
    } catch (error) {
      if (!run.ended) run.interrupt(error instanceof Error ? error.message : String(error), 0)
    } finally {
      quarantined.expected -= 1
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const process of this.#processes) process.end('the sandbox is closed')
    await Promise.all(Array.from(this.#processes, (process) => process.closed))
  }

  #processOf(owner: Owner): QuarantineProcess | undefined {
    const found = this.#byOwner.get(ownerKey(owner))
    if (found !== undefined || this.#isClosed) return found
    if (this.#byOwner.size >= maxProcesses) this.#end(({ process, expected }) => process.isIdle && expected === 0, 1)
    return this.#byOwner.size < maxProcesses ? this.#open(owner) : undefined
  }

  #open(owner: Owner): QuarantineProcess {
    const key = ownerKey(owner)
    const process: SandboxProcess = this.#options.start({
      onDead: (_reason, _early, exit) => {
        if (this.#byOwner.get(key)?.process === process) this.#byOwner.delete(key)
        if (exit !== undefined && !this.#isClosed) this.#options.onExit(owner, exit)
      },
      onBeat: () => this.#end((quarantined) => this.#isUnused(quarantined)),
    })
    const quarantined = { process, expected: 0, usedAt: performance.now() }
    this.#byOwner.set(key, quarantined)
    this.#processes.add(process)
    void process.closed.then(() => this.#processes.delete(process))
    this.#options.log('info', 'A sandbox process for code in quarantine is started', {
      sandboxPid: process.pid,
      owner: key,
    })
    return quarantined
  }

  #isUnused({ process, expected, usedAt }: QuarantineProcess): boolean {
    return process.isIdle && expected === 0 && performance.now() - usedAt > idleMilliseconds
  }

  #end(isExpired: (quarantined: QuarantineProcess) => boolean, max = Infinity): void {
    let left = max
    for (const quarantined of this.#byOwner.values()) {
      if (left <= 0) return
      if (!isExpired(quarantined)) continue
      left -= 1
      quarantined.process.end('there is nothing to run in quarantine')
    }
  }
}
