import { createHash } from 'node:crypto'
import { CrashHistory, ownerOf, type Owner } from './crash-history.ts'
import type {
  ClientOperation,
  PlaceMemory,
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
  /** Of all these processes together. */
  memoryMegabytes: number
  walls: Isolation
  programs: Programs
  operations: ClientOperation[]
  log: SandboxLog
  onSuspension?: ((verdict: CodeSuspension) => void) | undefined
  watch?: SandboxWatch | undefined
  recycling?: Partial<Recycling> | undefined
}

export interface Pool {
  /** Gives a run to the home process of its bot, or to the one its code has in quarantine. */
  assign(run: RunHandle): Promise<void>
  memory(): PlaceMemory[]
  close(): Promise<void>
}

/** Starts the processes, and starts another whenever one is gone. */
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
  readonly #homes: ProcessSlot[]
  readonly #quarantine: Quarantine
  readonly #conduct: CrashHistory

  constructor(options: PoolOptions) {
    this.#options = options
    const { processes, memoryMegabytes, log, recycling } = options
    this.#conduct = new CrashHistory((verdict) => this.#pronounce(verdict))
    const memory = processMemory(memoryMegabytes / processes)
    this.#homes = Array.from({ length: processes }, (_, index): ProcessSlot => {
      return new ProcessSlot({
        index,
        log,
        recycling: { ...defaultRecycling, ...recycling },
        start: (events) => this.#start(memory, events),
        onExit: (death) => this.#conduct.exitedInSlot(death),
        isOtherRenewing: () => this.#homes.some((home) => home.isRenewing),
      })
    })
    const quarantineMemory = processMemory(quarantineMegabytes)
    this.#quarantine = new Quarantine({
      log,
      start: (events) => this.#start(quarantineMemory, events),
      onExit: (owner, death) => this.#conduct.exitedInQuarantine(owner, death),
    })
  }

  async ready(): Promise<void> {
    await Promise.all(this.#homes.map((home) => home.ready()))
  }

  async assign(run: RunHandle): Promise<void> {
    if (run.runTree !== run.id) return this.#assignWithin(run)
    const owner = ownerOf(run.bundle)
    const verdict = this.#conduct.placeOf(owner)
    switch (verdict.place) {
      case 'home':
        return this.#homeOf(owner).assign(run)
      case 'quarantine':
        return this.#quarantine.assign(run, owner)
      case 'disabled':
        run.fail({ reason: 'crashed', error: { name: 'QuarantineError', message: verdict.reason } }, 0)
    }
  }

  memory(): PlaceMemory[] {
    const { residentBytes } = this.#quarantine
    return [
      ...this.#homes.map((home, index) => ({ place: `home ${index}`, residentBytes: home.residentBytes })),
      { place: 'quarantine', residentBytes },
    ]
  }

  async close(): Promise<void> {
    await Promise.all([...this.#homes.map((home) => home.close()), this.#quarantine.close()])
  }

  /** A run that another one called goes where that one is, even when others go elsewhere by now. */
  #assignWithin(run: RunHandle): void {
    for (const place of [...this.#homes, this.#quarantine]) {
      const process = place.holding(run.runTree)
      if (process !== undefined) return process.take(run)
    }
    run.interrupt('the run that called it is not under way', 0)
  }

  #homeOf({ botId }: Owner): ProcessSlot {
    const hash = createHash('sha256').update(botId).digest().readUInt32LE(0)
    return this.#homes[hash % this.#homes.length]!
  }

  #start(memory: ProcessMemory, events: ProcessEvents): SandboxProcess {
    const { walls, programs, operations, log, watch } = this.#options
    return new SandboxProcess({ walls, programs, operations, log, watch, memory, ...events })
  }

  #pronounce(verdict: CodeSuspension): void {
    const { place, botId, installationId, codeId } = verdict
    const what = place === 'quarantine' ? 'Code is in quarantine' : 'Code in quarantine is disabled'
    this.#options.log('warn', `${what}: it had sandbox processes killed`, { botId, installationId, codeId })
    this.#options.onSuspension?.(verdict)
  }
}
