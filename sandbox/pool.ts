import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientOperation, SandboxLog } from './contract.ts'
import type { Job } from './job.ts'
import type { Programs } from './programs.ts'
import { SandboxProcess } from './sandbox-process.ts'

export interface PoolOptions {
  processes: number
  programs: Programs
  operations: ClientOperation[]
  log: SandboxLog
}

export interface Pool {
  /** Gives a job to the home process of its bot. */
  assign(job: Job): Promise<void>
  close(): Promise<void>
}

const firstRetryMilliseconds = 100
const lastRetryMilliseconds = 5000

/** Starts the processes, and starts another whenever one is gone. */
export async function openPool(options: PoolOptions): Promise<Pool> {
  const homes = Array.from({ length: options.processes }, (_, index) => new Home(index, options))
  const pool: Pool = {
    async assign(job) {
      const hash = createHash('sha256').update(job.bundle.botId).digest().readUInt32LE(0)
      await homes[hash % homes.length]!.assign(job)
    },
    async close() {
      await Promise.all(homes.map((home) => home.close()))
    },
  }
  try {
    await Promise.all(homes.map((home) => home.ready()))
  } catch (error) {
    await pool.close()
    throw error
  }
  return pool
}

/** The place of one process after another. A new one starts at once when the last one dies, more slowly if it keeps dying. */
class Home {
  readonly #index: number
  readonly #options: PoolOptions
  readonly #abort = new AbortController()
  /** All that are not yet entirely gone. */
  readonly #processes = new Set<SandboxProcess>()
  #current: SandboxProcess
  #earlyDeaths = 0

  constructor(index: number, options: PoolOptions) {
    this.#index = index
    this.#options = options
    this.#current = this.#start()
  }

  ready(): Promise<void> {
    return this.#current.ready
  }

  /** Waits for a process that is starting; when it can not start, the job is interrupted. */
  async assign(job: Job): Promise<void> {
    const process = this.#current
    try {
      await process.ready
      if (this.#abort.signal.aborted) job.interrupt('the sandbox is closed', 0)
      else if (process.dead) await this.assign(job)
      else process.take(job)
    } catch (error) {
      if (!job.ended) job.interrupt(error instanceof Error ? error.message : String(error), 0)
    }
  }

  async close(): Promise<void> {
    this.#abort.abort()
    for (const process of this.#processes) process.kill('the sandbox is closed')
    await Promise.all(Array.from(this.#processes, (process) => process.closed))
  }

  #start(): SandboxProcess {
    const { programs, operations, log } = this.#options
    const process: SandboxProcess = new SandboxProcess({
      programs,
      operations,
      log,
      onDead: (reason, early) => void this.#replace(process, reason, early),
    })
    this.#processes.add(process)
    void process.closed.then(() => this.#processes.delete(process))
    process.ready.then(
      () => log('info', 'A sandbox process is ready', { home: this.#index, pid: process.pid }),
      () => {},
    )
    return process
  }

  async #replace(process: SandboxProcess, reason: string, early: boolean): Promise<void> {
    this.#earlyDeaths = early ? this.#earlyDeaths + 1 : 0
    if (this.#abort.signal.aborted) return
    const details = { home: this.#index, pid: process.pid, reason }
    this.#options.log('warn', 'A sandbox process is gone and is replaced', details)
    if (early) {
      const pause = firstRetryMilliseconds * 2 ** (this.#earlyDeaths - 1)
      await sleep(Math.min(pause, lastRetryMilliseconds), undefined, { signal: this.#abort.signal }).catch(() => {})
      if (this.#abort.signal.aborted) return
    }
    this.#current = this.#start()
  }
}
