import type { Duplex } from 'node:stream'
import type { Isolation } from '../isolation/detect-isolation.ts'
import { IsolatedProcess } from '../isolation/isolated-process.ts'
import { FairQueue } from '../programs/fair-queue.ts'
import { nodeProgram, reservedMegabytes } from '../programs/node-program.ts'
import type { SandboxLog } from '../protocol/contract.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'
import { ScriptsError, type ScriptCompilation, type ScriptOutcome, type Scripts } from './contract.ts'
import type { Reply, Task } from './process/frames.ts'

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
/** Of one script, which may be compiled in exponential time: 400 characters of nested closures take a second. */
const scriptMilliseconds = 2000
/** Of the process, until it has loaded the interpreter: it has run no script yet, and a busy machine takes long. */
const startMilliseconds = 60_000
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

  async function send<Outcome>(task: Task): Promise<Outcome> {
    if (isClosed) throw new ScriptsError('The interpreter of scripts is closing')
    clearTimeout(idle)
    if (current === undefined || current.hasEnded || current.scripts >= scriptsOfProcess) {
      current?.end()
      current = new ScriptProcess(isolation, await program())
    }
    try {
      return (await current.send(task)) as Outcome
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
    run: (owner, script, input) => turns.run(owner, () => send<ScriptOutcome>({ script, input })),
    compile: (owner, script) => turns.run(owner, () => send<ScriptCompilation>({ script })),
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
  #hasStarted = false
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

  /** @throws ScriptsError when the process does not start in time, or ends before it has replied */
  async send(task: Task): Promise<unknown> {
    if (!this.#hasStarted) {
      await this.#receiveReply(startMilliseconds, notStarted)
      this.#hasStarted = true
    }
    this.#channel.write(`${JSON.stringify(task)}\n`)
    this.scripts += 1
    const { outcome, isBroken = false } = await this.#receiveReply(scriptMilliseconds, tooLong)
    if (isBroken) this.end()
    return outcome
  }

  /** @param otherwise the reply, or the error, in place of a reply that does not come in time */
  async #receiveReply(milliseconds: number, otherwise: string | ScriptsError): Promise<Reply<unknown>> {
    const reply = (this.#waiting = Promise.withResolvers<string>())
    const overdue = setTimeout(() => {
      this.end()
      if (typeof otherwise === 'string') reply.resolve(otherwise)
      else reply.reject(otherwise)
    }, milliseconds)
    try {
      return readReply(await reply.promise)
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

/** @throws SyntaxError when a process sends something else than JSON */
function readReply(text: string): Reply<unknown> {
  try {
    return parseUntrustedJson(text) as unknown as Reply<unknown>
  } catch (error) {
    if (error instanceof TypeError) return { outcome: { status: 'failed', reason: error.message } }
    throw error
  }
}

const failure = (reason: string) =>
  JSON.stringify({ outcome: { status: 'failed', reason } } satisfies Reply<ScriptOutcome & ScriptCompilation>)
const tooLong = failure(`The script takes more than ${scriptMilliseconds / 1000} s`)
const tooLarge = failure(`The result of the script has more than ${answerBytes / 1024 / 1024} MB`)
const notStarted = new ScriptsError(`The interpreter of scripts did not start within ${startMilliseconds / 1000} s`)
