import type { Channel } from '../protocol/channel.ts'
import { ownerOf, type ProcessExit } from './crash-history.ts'
import type { KillCause, SandboxWatch } from '../protocol/contract.ts'
import { Heartbeat } from './heartbeat.ts'
import { HandleFrames } from './handle-frames.ts'
import { failureOutside, type Handle } from './handle.ts'
import { ProcessHandles, type ExitAttribution } from './process-handles.ts'
import { isFromProcess, type FromProcess, type ToProcess } from '../protocol/protocol.ts'
import { FrameQuota } from './frame-quota.ts'
import { RunStarts } from './run-starts.ts'
import { startProcess, type StartOptions } from './start-process.ts'
import { CrashAttribution } from './crash-attribution.ts'
import type { IsolatedProcess } from '../isolation/isolated-process.ts'

export interface ProcessOptions extends StartOptions {
  /**
   * The process will take no more jobs. It may be a moment until it is gone. `early`: before it was ready for any. No
   * death is given of one that was asked to end.
   */
  onDead(reason: string, early: boolean, death: ProcessExit | undefined): void
  /** It has answered a heartbeat. */
  onBeat?(): void
  watch?: SandboxWatch | undefined
}

const startMilliseconds = 15_000
const reasonCharacters = 200
const flood = 'it floods the worker'
/** What `unshare` ends with, which waits outside of the namespaces, when the process inside was killed with SIGKILL. */
const killedInside = 1

/**
 * One process that holds isolates, seen from the worker.
 *
 * It is starting until it says `ready`, then alive, then dead for good. It dies because it ended by itself, because it
 * says that a thread is stuck, because it broke the protocol, because it missed its heartbeats, or because a job
 * outlived its deadline; whichever comes first settles every job still under way, and the process is killed. One that
 * is retired ends the jobs it has, and dies of that.
 */
export class SandboxProcess {
  /** Resolves when it can take jobs; rejects when it dies first. */
  readonly ready: Promise<void>
  /** Resolves when nothing of it is left. */
  readonly closed: Promise<void>
  dead = false

  /** When it was started, by `performance.now()`. */
  readonly startedAt = performance.now()
  /** Runs that it was given, those that ended included. */
  runs = 0
  /** Its memory, as it said last. */
  residentBytes = 0

  readonly #process: IsolatedProcess
  readonly #channel: Channel<ToProcess>
  readonly #options: ProcessOptions
  readonly #jobs = new ProcessHandles()
  readonly #suspects = new CrashAttribution()
  readonly #quota = new FrameQuota()
  readonly #frames: HandleFrames
  readonly #heartbeat: Heartbeat
  readonly #started = Promise.withResolvers<void>()
  #isReady = false
  #isRetired = false
  #killedAt = 0
  readonly #starts: RunStarts

  constructor(options: ProcessOptions) {
    this.#options = options
    this.#starts = new RunStarts(options.watch)
    this.ready = this.#started.promise
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    this.closed = closed
    const { process, channel } = startProcess(options, {
      onFrame: (frame, bytes) => this.#receive(frame, bytes),
      onBreach: (reason) => this.#crashed(reason, 'protocol'),
      onGone: (reason) => this.kill(reason, { cause: 'ended' }),
      onClosed: (code, signal) => {
        this.#ended(code, signal)
        const milliseconds = Math.round(performance.now() - this.#killedAt)
        options.log('info', 'A sandbox process has ended', { pid: process.child.pid, milliseconds })
        resolve()
      },
    })
    this.#process = process
    this.#channel = channel
    this.#frames = new HandleFrames({
      quota: this.#quota,
      channel,
      ended: (job) => this.#forget(job),
      isDead: () => this.dead,
    })
    this.#heartbeat = new Heartbeat({
      softBytes: options.memory.softBytes,
      ask: () => {
        this.#quota.beat()
        this.#channel.send({ type: 'ping' })
      },
      missed: () => this.kill('it missed its heartbeats', { cause: 'heartbeat' }),
    })
    const startTimer = setTimeout(() => this.kill('it did not start in time', { cause: 'start' }), startMilliseconds)
    const hasStarted = () => clearTimeout(startTimer)
    this.ready.then(hasStarted, hasStarted)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Whether the first run of a runTree is under way here. */
  holds(runTree: string): boolean {
    return this.#jobs.get(runTree) !== undefined
  }

  get isIdle(): boolean {
    return this.#jobs.size === 0
  }

  /** How long it has held more than it should, without a break. */
  get overweightMilliseconds(): number {
    return this.#heartbeat.overweightMilliseconds
  }

  /** Begins a job. From here on it ends by itself, or with the process. */
  take(job: Handle): void {
    this.#jobs.add(job, () => this.#killBecauseOf(job, 'a run outlived its deadline', 'deadline'))
    this.runs += 1
    this.#suspects.remember(job)
    this.#quota.begin(job)
    this.#channel.send(job.begin())
  }

  /** Lets it end what it has, and then ends it. Whoever retires it gives it no more jobs but those within others. */
  retire(): void {
    this.#isRetired = true
    if (this.isIdle) this.end('it was replaced')
  }

  /** Ends the process as a matter of course: nobody is suspected. */
  end(reason: string): void {
    this.#die(reason, undefined, undefined)
  }

  /** Ends the process and every job because something is wrong with it. */
  kill(reason: string, { cause, attributed, suspects, fromOutside = false, steps }: ExitAttribution): void {
    if (!this.dead) this.#options.watch?.killed(cause)
    const death = { suspects: suspects ?? this.#suspects.owners(this.#jobs), fromOutside }
    this.#die(reason, death, attributed, steps)
  }

  #die(
    reason: string,
    death: ProcessExit | undefined,
    attributed: ExitAttribution['attributed'],
    steps: ExitAttribution['steps'] = {},
  ): void {
    if (this.dead) return
    this.dead = true
    this.#killedAt = performance.now()
    this.#process.end()
    this.#heartbeat.stop()
    const { log } = this.#options
    if (death) {
      const suspects = death.suspects.map(({ botId, installationId }) => installationId ?? botId)
      log('warn', 'A sandbox process is killed', { pid: this.pid, reason, jobs: this.#jobs.size, suspects, ...steps })
    }
    this.#jobs.endAll(`its sandbox process was killed: ${reason}`, attributed)
    this.#started.reject(new Error(`A sandbox process died: ${reason}`))
    this.#options.onDead(reason, !this.#isReady, death)
  }

  /** The process ended without being asked to. */
  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    const reason = signal === null ? `it ended with code ${code}` : `it ended with ${signal}`
    if (signal === 'SIGKILL' || code === killedInside) this.kill(reason, { cause: 'ended', fromOutside: true })
    else this.#crashed(reason, 'ended')
  }

  /** It has ended, or has to, because of a job. */
  #crashed(reason: string, cause: KillCause): void {
    const runTree = this.#suspects.runTree(this.#jobs)
    this.kill(
      reason,
      runTree === undefined ? { cause } : { cause, attributed: { runTree, failure: failureOutside('crashed') } },
    )
  }

  /** A run has to end, and only the end of the process ends it. */
  #killBecauseOf({ runTree, bundle }: Handle, reason: string, cause: 'deadline' | 'protocol'): void {
    const attributed = { runTree, failure: failureOutside(cause === 'deadline' ? 'timeout' : 'crashed') }
    this.kill(reason, { cause, attributed, suspects: [ownerOf(bundle)] })
  }

  #receive(frame: unknown, bytes: number): void {
    if (this.dead) return
    if (!isFromProcess(frame)) return this.#crashed('it sent a frame that does not exist', 'protocol')
    if (this.#obey(frame)) return
    if (!this.#quota.useless(bytes)) return
    const job = 'run' in frame ? this.#jobs.get(frame.run) : undefined
    if (job === undefined) return this.#crashed(flood, 'protocol')
    this.#killBecauseOf(job, flood, 'protocol')
  }

  /** @returns whether the frame was of any use; a process in order sends hardly one that is not */
  #obey(frame: FromProcess): boolean {
    switch (frame.type) {
      case 'ready':
        if (this.#isReady) return false
        this.#isReady = true
        this.#heartbeat.start()
        this.#process.started(() => this.#crashed('it outgrew its memory', 'memory'))
        this.#started.resolve()
        return true
      case 'pong':
        if (!this.#heartbeat.answered(frame.rss)) return false
        this.residentBytes = frame.rss
        this.#starts.tell(frame)
        this.#options.onBeat?.()
        return true
      case 'code':
        return this.#sendCode(frame.bundle)
      case 'stuck': {
        const { turn, waited } = frame
        const owner = this.#suspects.ownerOfBundle(frame.bundle)
        this.kill(frame.reason.slice(0, reasonCharacters), {
          cause: 'stuck',
          ...(owner && { suspects: [owner] }),
          steps: { turn, waited },
        })
        return true
      }
      case 'over':
        return this.#suspects.over(frame.run)
      default: {
        // A frame of a run that is not under way is late, or made up: either way it concerns nobody.
        const job = this.#jobs.get(frame.run)
        if (job === undefined) return false
        return frame.type === 'long' ? this.#suspects.long(job) : this.#frames.receive(job, frame)
      }
    }
  }

  #sendCode(bundle: string): boolean {
    for (const job of this.#jobs) {
      if (job.bundle.id !== bundle || !this.#quota.code(job)) continue
      const { kind = 'native', code, environment = {} } = job.bundle
      this.#channel.send({ type: 'code', bundle, source: { kind, code, environment } })
      return true
    }
    return false
  }

  #forget(job: Handle): void {
    this.#jobs.remove(job)
    this.#quota.end(job)
    // What the job has to say is said first.
    if (this.#isRetired && this.isIdle) setImmediate(() => this.end('it was replaced'))
  }
}
