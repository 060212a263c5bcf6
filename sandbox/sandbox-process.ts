import { spawn, type ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { findAddon } from './addon.ts'
import { openChannel, type Channel } from './channel.ts'
import { sandboxCommand } from './command.ts'
import type { ClientOperation, SandboxLog } from './contract.ts'
import { failureOutside, type Failure, type Job } from './job.ts'
import type { Programs } from './programs.ts'
import {
  isFromProcess,
  maximumBytesFromProcess,
  toFailureReason,
  type FromProcess,
  type ToProcess,
} from './protocol.ts'
import { logStderr } from './stderr.ts'

export interface ProcessOptions {
  programs: Programs
  operations: ClientOperation[]
  log: SandboxLog
  /** The process will take no more jobs. It may be a moment until it is gone. `early`: before it was ready for any. */
  onDead(reason: string, early: boolean): void
}

const startMilliseconds = 15_000
const heartbeatMilliseconds = 1000
const missedHeartbeats = 5
/** Beyond a run's own limits: the process has the first chance to end it, and to say why. */
const graceMilliseconds = 3000

/**
 * One process that holds isolates, seen from the worker.
 *
 * It is starting until it says `ready`, then alive, then dead for good. It dies because it ended by itself, because it
 * says that a thread is stuck, because it broke the protocol, because it missed its heartbeats, or because a job
 * outlived its deadline; whichever comes first settles every job still under way, and the process is killed.
 */
export class SandboxProcess {
  /** Resolves when it can take jobs; rejects when it dies first. */
  readonly ready: Promise<void>
  /** Resolves when nothing of it is left. */
  readonly closed: Promise<void>
  dead = false

  readonly #child: ChildProcess
  readonly #channel: Channel<ToProcess>
  readonly #options: ProcessOptions
  readonly #jobs = new Map<string, Job>()
  readonly #deadlines = new Map<string, NodeJS.Timeout>()
  /** Runs whose present turn has taken long. */
  readonly #suspects = new Set<string>()
  readonly #heartbeat: NodeJS.Timeout
  readonly #started = Promise.withResolvers<void>()
  #isReady = false
  #unanswered = 0

  constructor(options: ProcessOptions) {
    this.#options = options
    const { file, args, options: spawnOptions } = sandboxCommand()
    const child = spawn(file, args, spawnOptions)
    this.#child = child
    this.ready = this.#started.promise
    this.ready.catch(() => {})
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    this.closed = closed
    child.on('error', (error) => this.kill(`it could not be started: ${error.message}`))
    child.on('close', (code, signal) => {
      this.#ended(code, signal)
      resolve()
    })
    logStderr(child, options.log)
    this.#channel = openChannel<ToProcess>(child.stdio[3] as Duplex, {
      maximumBytes: maximumBytesFromProcess,
      onFrame: (frame) => this.#receive(frame),
      // The end of the process says more, and follows.
      onBroken: (reason) => void setTimeout(() => this.kill(reason), 200),
    })
    // It may be gone before it has read its program.
    child.stdin?.on('error', () => {})
    child.stdin?.end(options.programs.process)
    this.#channel.send({
      type: 'start',
      addon: findAddon(),
      inside: options.programs.inside,
      web: options.programs.web,
      sdk: options.programs.sdk,
      operations: options.operations,
    })
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMilliseconds)
    const startTimer = setTimeout(() => this.kill('it did not start in time'), startMilliseconds)
    this.ready.then(
      () => clearTimeout(startTimer),
      () => clearTimeout(startTimer),
    )
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Begins a job. From here on it ends by itself, or with the process. */
  take(job: Job): void {
    this.#jobs.set(job.id, job)
    this.#channel.send(job.begin())
    if (job.family !== job.id) return
    const milliseconds = job.limits.wallMilliseconds + job.limits.loadMilliseconds + graceMilliseconds
    const deadline = setTimeout(() => {
      this.kill('a run outlived its deadline', { family: job.family, failure: failureOutside('timeout') })
    }, milliseconds)
    this.#deadlines.set(job.id, deadline)
  }

  /** Ends the process and every job: those of the guilty family fail, the others are interrupted. */
  kill(reason: string, guilty?: { family: string; failure: Failure }): void {
    if (this.dead) return
    this.dead = true
    this.#child.kill('SIGKILL')
    clearInterval(this.#heartbeat)
    for (const deadline of this.#deadlines.values()) clearTimeout(deadline)
    for (const job of this.#jobs.values()) {
      if (guilty?.family === job.family) job.fail(guilty.failure, 0)
      else job.interrupt(`its sandbox process was killed: ${reason}`, 0)
    }
    this.#jobs.clear()
    this.#started.reject(new Error(`A sandbox process died: ${reason}`))
    this.#options.onDead(reason, !this.#isReady)
  }

  /** The process ended without being asked to. */
  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    const family = signal === 'SIGKILL' ? undefined : this.#suspectedFamily()
    const reason = signal === null ? `it ended with code ${code}` : `it ended with ${signal}`
    this.kill(reason, family === undefined ? undefined : { family, failure: failureOutside('crashed') })
  }

  /**
   * Whose doing a crash was: the only run there is, or the only one whose turn was taking long. Otherwise nobody's:
   * blaming an innocent run costs it its event, letting a guilty one go costs another crash.
   */
  #suspectedFamily(): string | undefined {
    const all = new Set(Array.from(this.#jobs.values(), (job) => job.family))
    const suspects = new Set(Array.from(this.#suspects, (id) => this.#jobs.get(id)?.family ?? id))
    for (const candidates of [suspects, all]) {
      if (candidates.size === 1) return candidates.values().next().value
    }
    return undefined
  }

  #beat(): void {
    if (!this.#isReady) return
    if (this.#unanswered >= missedHeartbeats) return this.kill('it missed its heartbeats')
    this.#unanswered += 1
    this.#channel.send({ type: 'ping' })
  }

  #receive(frame: unknown): void {
    if (this.dead) return
    if (isFromProcess(frame)) this.#obey(frame)
    else this.kill('it sent a frame that does not exist')
  }

  #obey(frame: FromProcess): void {
    switch (frame.type) {
      case 'ready':
        this.#isReady = true
        return this.#started.resolve()
      case 'pong':
        this.#unanswered = 0
        return
      case 'code':
        return this.#sendCode(frame.bundle)
      case 'stuck':
        return this.kill(frame.reason)
      case 'long':
        this.#suspects.add(frame.run)
        return
      case 'over':
        this.#suspects.delete(frame.run)
        return
      default: {
        // A frame of a run that is not under way is late, or made up: either way it concerns nobody.
        const job = this.#jobs.get(frame.run)
        if (job !== undefined) this.#forward(job, frame)
      }
    }
  }

  #forward(
    job: Job,
    frame: Extract<FromProcess, { type: 'call' | 'fetch' | 'unfetch' | 'log' | 'done' | 'failed' | 'interrupted' }>,
  ): void {
    switch (frame.type) {
      case 'call':
        void this.#answer(job, frame.call, frame.request)
        return
      case 'fetch':
        void this.#fetch(job, frame.fetch, frame.request)
        return
      case 'unfetch':
        return job.unfetch(frame.fetch)
      case 'log':
        return job.log({ timestamp: frame.timestamp, level: toLevel(frame.level), message: frame.message })
      case 'done':
        this.#forget(job)
        return job.done(frame.result, frame.state, frame.cpu)
      case 'interrupted':
        this.#forget(job)
        return job.interrupt(frame.reason, frame.cpu)
      case 'failed': {
        this.#forget(job)
        const { name, message, stack, hook } = frame
        const error = { name, message, ...(stack === '' ? {} : { stack }) }
        const failure = { reason: toFailureReason(frame.reason), error, ...(hook === '' ? {} : { hook }) }
        return job.fail(failure, frame.cpu)
      }
    }
  }

  async #answer(job: Job, call: string, request: string): Promise<void> {
    const reply = await job.answer(request)
    if (!this.dead && !job.ended) this.#channel.send({ type: 'reply', run: job.id, call, reply })
  }

  async #fetch(job: Job, fetch: string, request: string): Promise<void> {
    const fetched = await job.fetch(fetch, request)
    if (!this.dead && !job.ended) this.#channel.send({ type: 'fetched', run: job.id, fetch, ...fetched })
  }

  #sendCode(bundle: string): void {
    for (const job of this.#jobs.values()) {
      if (job.bundle.id !== bundle) continue
      const { kind = 'native', code, environment = {} } = job.bundle
      return this.#channel.send({ type: 'code', bundle, source: { kind, code, environment } })
    }
  }

  #forget(job: Job): void {
    this.#jobs.delete(job.id)
    clearTimeout(this.#deadlines.get(job.id))
    this.#deadlines.delete(job.id)
  }
}

function toLevel(level: string): 'debug' | 'info' | 'warn' | 'error' {
  return level === 'debug' || level === 'warn' || level === 'error' ? level : 'info'
}
