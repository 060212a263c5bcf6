import { createHash } from 'node:crypto'
import { CrashHistory, ownerOf, type Owner } from './crash-history.ts'
import type {
  ClientOperation,
  SlotMemory,
  Recycling,
  SandboxLog,
  SandboxWatch,
  CodeSuspension,
} from '../protocol/contract.ts'
import { defaultRecycling, ProcessSlot, type ProcessEvents } from './process-slot.ts'
import type { RunHandle } from './run-handle.ts'
import { processMemory, quarantineMegabytes, type ProcessMemory } from './memory.ts'
import type { Programs } from './programs.ts'
import { Quarantine } from './quarantine.ts'
import { SandboxProcess } from './sandbox-process.ts'
import type { Isolation } from '../isolation/detect-isolation.ts'

export interface PoolOptions {
  processes: number
  /** Memory of all these processes together. */
  memoryMegabytes: number
  isolation: Isolation
  programs: Programs
  operations: ClientOperation[]
  log: SandboxLog
  onSuspension?: ((suspension: CodeSuspension) => void) | undefined
  watch?: SandboxWatch | undefined
  recycling?: Partial<Recycling> | undefined
}

export interface Pool {
  /** Assigns a run to the slot of its bot, or to the quarantine process of its owner. */
  assign(run: RunHandle): Promise<void>
  memory(): SlotMemory[]
  close(): Promise<void>
}

/** Starts the processes, and replaces each process that ends. */
export async function openPool(options: PoolOptions): Promise<Pool> {
  const pool = new SandboxPool(options)
  try {
    await pool.ready()
  } catch (error) {
    await pool.close()
    throw error
  }
  return pool
}

class SandboxPool implements Pool {
  readonly #options: PoolOptions
  readonly #slots: ProcessSlot[]
  readonly #quarantine: Quarantine
  readonly #crashHistory: CrashHistory

  constructor(options: PoolOptions) {
    this.#options = options
    const { processes, memoryMegabytes, log, recycling } = options
    this.#crashHistory = new CrashHistory((suspension) => this.#suspend(suspension))
    const memory = processMemory(memoryMegabytes / processes)
    this.#slots = Array.from({ length: processes }, (_, index): ProcessSlot => {
      return new ProcessSlot({
        index,
        log,
        recycling: { ...defaultRecycling, ...recycling },
        start: (events) => this.#start(memory, events),
        onExit: (exit) => this.#crashHistory.exitedInSlot(exit),
        isOtherRenewing: () => this.#slots.some((slot) => slot.isRenewing),
      })
    })
    const quarantineMemory = processMemory(quarantineMegabytes)
    this.#quarantine = new Quarantine({
      log,
      start: (events) => this.#start(quarantineMemory, events),
      onExit: (owner, exit) => this.#crashHistory.exitedInQuarantine(owner, exit),
    })
  }

  async ready(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.ready()))
  }

  async assign(run: RunHandle): Promise<void> {
    if (run.runTree !== run.id) return this.#assignWithin(run)
    const owner = ownerOf(run.bundle)
    const where = this.#crashHistory.placementOf(owner)
    switch (where.placement) {
      case 'slot':
        return this.#slotOf(owner).assign(run)
      case 'quarantine':
        return this.#quarantine.assign(run, owner)
      case 'disabled':
        run.fail({ reason: 'crashed', error: { name: 'QuarantineError', message: where.reason } }, 0)
    }
  }

  memory(): SlotMemory[] {
    const { residentBytes } = this.#quarantine
    return [
      ...this.#slots.map((slot, index) => ({ slot: `home ${index}`, residentBytes: slot.residentBytes })),
      { slot: 'quarantine', residentBytes },
    ]
  }

  async close(): Promise<void> {
    await Promise.all([...this.#slots.map((slot) => slot.close()), this.#quarantine.close()])
  }

  /** A run that another run called goes to the process of that run, even if new runs go elsewhere by now. */
  #assignWithin(run: RunHandle): void {
    for (const holder of [...this.#slots, this.#quarantine]) {
      const process = holder.holding(run.runTree)
      if (process !== undefined) return process.take(run)
    }
    run.interrupt('the run that called it is not in flight', 0)
  }

  #slotOf({ botId }: Owner): ProcessSlot {
    if (this.#slots.length === 1) return this.#slots[0]!
    const hash = createHash('sha256').update(botId).digest().readUInt32LE(0)
    return this.#slots[hash % this.#slots.length]!
  }

  #start(memory: ProcessMemory, events: ProcessEvents): SandboxProcess {
    const { isolation, programs, operations, log, watch } = this.#options
    return new SandboxProcess({ isolation, programs, operations, log, watch, memory, ...events })
  }

  #suspend(suspension: CodeSuspension): void {
    const { placement, botId, installationId, codeId } = suspension
    const what = placement === 'quarantine' ? 'Code is in quarantine' : 'Code in quarantine is disabled'
    this.#options.log('warn', `${what}: it crashed sandbox processes`, { botId, installationId, codeId })
    this.#options.onSuspension?.(suspension)
  }
}
