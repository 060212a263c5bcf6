import type { Duplex } from 'node:stream'
import type { Isolation } from '../isolation/detect-isolation.ts'
import { IsolatedProcess } from '../isolation/isolated-process.ts'
import { FairQueue } from '../programs/fair-queue.ts'
import { nodeProgram, reservedMegabytes } from '../programs/node-program.ts'
import type { SandboxLog } from '../protocol/contract.ts'
import { ScriptsError, type ScriptOutcome, type Scripts } from './contract.ts'

export interface ScriptsOptions {
  isolation: Isolation
  /** Makes the program that runs scripts: `bundleScripts`. */
  program: () => Promise<string>
  log: SandboxLog
  /** Time after which a process without scripts ends. */
  idleMilliseconds?: number | undefined
}

/**
 * Scripts take about a millisecond, and the interpreter half a second and 150 MB to load: so one process serves all
 * scripts, and ends when none come. A script cannot change what the next one sees.
 */
const usualIdleMilliseconds = 60_000
/** Of one script: loading the interpreter comes before the first. */
const scriptMilliseconds = 2000
const startMilliseconds = 20_000
/** Of all scripts of a process together; a process ends before. */
const cpuSeconds = 120
const scriptsOfProcess = 20_000
const heapMegabytes = 256
const dataMegabytes = 512
const answerBytes = 1024 * 1024

/** Opens the interpreter of scripts, which starts with the first one. */
export function openScripts({ isolation, program, log, ...options }: ScriptsOptions): Scripts {
  const { idleMilliseconds = usualIdleMilliseconds } = options
  const turns = new FairQueue(1)
  let current: ScriptProcess | undefined
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  async function run(script: string, input: object): Promise<ScriptOutcome> {
    if (isClosed) throw new ScriptsError('The interpreter of scripts is closing')
    clearTimeout(idle)
    if (current === undefined || current.hasEnded || current.scripts >= scriptsOfProcess) {
      current?.end()
      current = new ScriptProcess(isolation, await program())
    }
    try {
      return await current.run(script, input)
    } catch (error) {
      current.end()
      if (!isClosed)
        log('warn', 'The interpreter of scripts ended', { reason: String(error), complaint: current.complaint })
      throw error
    } finally {
      idle = setTimeout(() => current?.end(), idleMilliseconds).unref()
    }
  }

  return {
    run: (owner, script, input) => turns.run(owner, () => run(script, input)),
    async close() {
      isClosed = true
      clearTimeout(idle)
      current?.end()
      await current?.closed
    },
  }
}

const complaintCharacters = 4000

/** A process that runs one script at a time. */
class ScriptProcess {
  /** Settles when no process is left. */
  readonly closed: Promise<void>
  hasEnded = false
  scripts = 0
  /** The beginning of its standard error. */
  complaint = ''
  readonly #process: IsolatedProcess
  readonly #channel: Duplex
  #received: Buffer[] = []
  #bytes = 0
  #waiting: PromiseWithResolvers<string> | undefined

  constructor(isolation: Isolation, program: string) {
    this.#process = new IsolatedProcess(
      isolation,
      (dataMegabytes + reservedMegabytes) * 1024,
      nodeProgram({ cpuSeconds, heapMegabytes }),
    )
    const { child } = this.#process
    this.#channel = child.stdio[3] as Duplex
    const gone = (error?: Error) => {
      this.hasEnded = true
      this.#waiting?.reject(new ScriptsError(`The interpreter of scripts ended${error ? `: ${error.message}` : ''}`))
    }
    this.closed = new Promise((resolve) => {
      child.once('close', () => resolve(gone()))
      // A program that cannot be started emits no `close`.
      child.once('error', (error) => {
        gone(error)
        if (child.pid === undefined) resolve()
      })
    })
    child.stderr!.on('data', (text: Buffer) => {
      if (this.complaint.length < complaintCharacters) this.complaint += text.toString()
    })
    for (const stream of [child.stdin!, this.#channel]) stream.on('error', () => {})
    this.#channel.on('data', (bytes: Buffer) => this.#receive(bytes))
    child.stdin!.end(program)
  }

  /** @throws ScriptsError when the process ends before it has answered, or does not answer in time */
  async run(script: string, input: object): Promise<ScriptOutcome> {
    const answer = (this.#waiting = Promise.withResolvers<string>())
    const milliseconds = this.scripts === 0 ? startMilliseconds : scriptMilliseconds
    const overdue = setTimeout(() => {
      // The first script may have waited for the start of the process, which is no fault of its own.
      if (this.scripts > 0) answer.resolve(tooLong)
      this.end()
    }, milliseconds)
    try {
      this.#channel.write(`${JSON.stringify({ script, input })}\n`)
      const outcome = JSON.parse(await answer.promise) as ScriptOutcome
      this.scripts += 1
      return outcome
    } finally {
      clearTimeout(overdue)
      this.#waiting = undefined
    }
  }

  end(): void {
    this.hasEnded = true
    this.#process.end()
  }

  #receive(bytes: Buffer): void {
    this.#received.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes > answerBytes) {
      this.#waiting?.resolve(tooLarge)
      this.end()
    } else if (bytes.includes(0x0a)) {
      this.#waiting?.resolve(Buffer.concat(this.#received).toString())
      this.#received = []
      this.#bytes = 0
    }
  }
}

const failure = (reason: string) => JSON.stringify({ status: 'failed', reason } satisfies ScriptOutcome)
const tooLong = failure(`The script takes more than ${scriptMilliseconds / 1000} s`)
const tooLarge = failure(`The result of the script has more than ${answerBytes / 1024 / 1024} MB`)
