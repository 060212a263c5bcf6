import { ownerKey, type ProcessExit, type Owner } from './crash-history.ts'
import type { SandboxLog } from '../protocol/contract.ts'
import type { ProcessEvents } from './process-slot.ts'
import type { RunHandle } from './run-handle.ts'
import { sumOfMemory } from './memory.ts'
import type { SandboxProcess } from './sandbox-process.ts'

export interface QuarantineOptions {
  log: SandboxLog
  start(events: ProcessEvents): SandboxProcess
  /** The process of this owner's code has died without being asked to. */
  onExit(owner: Owner, death: ProcessExit): void
}

/** Each takes memory that was not meant for it; who finds no room comes again later. */
const maxProcesses = 2
/** A process in which nothing has run for so long is ended. */
const idleMilliseconds = 60_000

interface Room {
  process: SandboxProcess
  /** Runs that wait for it to be ready. */
  expected: number
  usedAt: number
}

/** Processes that hold the code of one owner each: started when there is something to run, ended when there is not. */
export class Quarantine {
  readonly #options: QuarantineOptions
  readonly #rooms = new Map<string, Room>()
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

  /** Runs a run where nobody else's are; when there is no room for that, it is interrupted. */
  async assign(run: RunHandle, owner: Owner): Promise<void> {
    const room = this.#roomOf(owner)
    if (room === undefined) return run.interrupt('the sandbox processes for code in quarantine are busy', 0)
    room.usedAt = performance.now()
    room.expected += 1
    try {
      await room.process.ready
      if (room.process.dead) run.interrupt('its sandbox process has just died', 0)
      else room.process.take(run)
    } catch (error) {
      if (!run.ended) run.interrupt(error instanceof Error ? error.message : String(error), 0)
    } finally {
      room.expected -= 1
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const process of this.#processes) process.end('the sandbox is closed')
    await Promise.all(Array.from(this.#processes, (process) => process.closed))
  }

  #roomOf(owner: Owner): Room | undefined {
    const found = this.#rooms.get(ownerKey(owner))
    if (found !== undefined || this.#isClosed) return found
    if (this.#rooms.size >= maxProcesses) this.#leave(({ process, expected }) => process.isIdle && expected === 0, 1)
    return this.#rooms.size < maxProcesses ? this.#open(owner) : undefined
  }

  #open(owner: Owner): Room {
    const key = ownerKey(owner)
    const process: SandboxProcess = this.#options.start({
      onDead: (_reason, _early, death) => {
        if (this.#rooms.get(key)?.process === process) this.#rooms.delete(key)
        if (death !== undefined && !this.#isClosed) this.#options.onExit(owner, death)
      },
      onBeat: () => this.#leave((room) => this.#isForgotten(room)),
    })
    const room = { process, expected: 0, usedAt: performance.now() }
    this.#rooms.set(key, room)
    this.#processes.add(process)
    void process.closed.then(() => this.#processes.delete(process))
    this.#options.log('info', 'A sandbox process for code in quarantine is started', { pid: process.pid, owner: key })
    return room
  }

  #isForgotten({ process, expected, usedAt }: Room): boolean {
    return process.isIdle && expected === 0 && performance.now() - usedAt > idleMilliseconds
  }

  #leave(isOver: (room: Room) => boolean, most = Infinity): void {
    let left = most
    for (const room of this.#rooms.values()) {
      if (left <= 0) return
      if (!isOver(room)) continue
      left -= 1
      room.process.end('there is nothing to run in quarantine')
    }
  }
}
