import type { Channel } from '../protocol/channel.ts'
import { receiveFrame } from './frames.ts'
import { ownerOf, type ProcessExit } from './crash-history.ts'
import type { KillCause, SandboxWatch } from '../protocol/contract.ts'
import { Heartbeat } from './heartbeat.ts'
import { bundleModules, type ModulePrograms } from './module-programs.ts'
import { failureOutside, type RunHandle } from './run-handle.ts'
import { ProcessHandles, type ExitAttribution } from './process-handles.ts'
import { scriptsFor, type ScriptName } from '../modules/table.ts'
import type { ToProcess } from '../protocol/protocol.ts'
import { FloodGuard } from './flood-guard.ts'
import type { FrameProcess } from './frame-process.ts'
import { RunStarts } from './run-starts.ts'
import { startProcess, type StartOptions } from './start-process.ts'
import { CrashAttribution } from './crash-attribution.ts'
import type { IsolatedProcess } from '../isolation/isolated-process.ts'
import { processorWaitOf } from '../isolation/processor-wait.ts'

export interface ProcessOptions extends StartOptions {
  /**
   * Called when the process takes no more runs and is about to end. `early`: before it was ready. `exit` is undefined
   * when the process was asked to end.
   */
  onDead(reason: string, early: boolean, exit: ProcessExit | undefined): void
  /** Called when the process has answered a heartbeat. */
  onBeat?(): void
  watch?: SandboxWatch | undefined
}

const startMilliseconds = 15_000
const reasonCharacters = 200
const flood = 'it floods the worker'
/** Exit code of `unshare`, which waits outside of the namespaces, when SIGKILL has ended the process inside. */
const killedInside = 1

/**
 * One process that holds isolates, from the worker's side.
 *
 * It is starting until its frame `ready`, then alive, then dead. It dies when it ends by itself, reports a stuck
 * thread, violates the protocol or misses its heartbeats, or when a run exceeds its deadline. The first of these
 * settles every run in flight and kills the process. A retired process finishes its runs and then ends.
 */
export class SandboxProcess {
  /** Resolves when the process can take runs; rejects when it dies first. */
  readonly ready: Promise<void>
  /** Resolves when the process and its descriptors are closed. */
  readonly closed: Promise<void>
  dead = false

  /** Start time, by `performance.now()`. */
  readonly startedAt = performance.now()
  /** Number of runs so far, ended ones included. */
  runs = 0
  /** Memory in the last report of the process. */
  residentBytes = 0

  readonly #process: IsolatedProcess
  readonly #channel: Channel<ToProcess>
  readonly #options: ProcessOptions
  readonly #runs = new ProcessHandles()
  readonly #attribution = new CrashAttribution()
  readonly #flood = new FloodGuard()
  readonly #frames: FrameProcess
  readonly #heartbeat: Heartbeat
  readonly #started = Promise.withResolvers<void>()
  #isReady = false
  #isRetired = false
  #killedAt = 0
  readonly #starts: RunStarts
  /** The scripts of Node's modules that the process has been sent. */
  readonly #modules = new Set<ScriptName>()

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
        options.log('info', 'A sandbox process ended', { sandboxPid: process.child.pid, milliseconds })
        resolve()
      },
    })
    this.#process = process
    this.#channel = channel
    this.#frames = this.#frameProcess()
    this.#heartbeat = new Heartbeat({
      softBytes: options.memory.softBytes,
      processorWait: () => (this.pid === undefined ? undefined : processorWaitOf(this.pid)),
      ask: () => {
        this.#flood.reset()
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

  /** Whether the root of this run tree is in flight here. */
  holds(runTree: string): boolean {
    return this.#runs.get(runTree) !== undefined
  }

  get isIdle(): boolean {
    return this.#runs.size === 0
  }

  /** Milliseconds that the process has been above its memory without a break. */
  get overweightMilliseconds(): number {
    return this.#heartbeat.overweightMilliseconds
  }

  /** Begins a run. It ends by itself, or with the process. */
  take(run: RunHandle): void {
    this.#runs.add(run, () => this.#killBecauseOf(run, 'a run outlived its deadline', 'deadline'))
    this.runs += 1
    this.#attribution.remember(run)
    this.#channel.send(run.begin())
  }

  /**
   * Lets the process finish its runs, then ends it. The caller assigns it no further runs, except those that its runs
   * call.
   */
  retire(): void {
    this.#isRetired = true
    if (this.isIdle) this.end('it was replaced')
  }

  /** Ends the process without suspecting any code. */
  end(reason: string): void {
    this.#die(reason, undefined, undefined)
  }

  /** Ends the process and all its runs because of a fault. */
  kill(reason: string, { cause, attributed, suspects, fromOutside = false, steps }: ExitAttribution): void {
    if (!this.dead) this.#options.watch?.killed(cause)
    const exit = { suspects: suspects ?? this.#attribution.owners(this.#runs), fromOutside }
    this.#die(reason, exit, attributed, steps)
  }

  #die(
    reason: string,
    exit: ProcessExit | undefined,
    attributed: ExitAttribution['attributed'],
    steps: ExitAttribution['steps'] = {},
  ): void {
    if (this.dead) return
    this.dead = true
    this.#killedAt = performance.now()
    this.#process.end()
    this.#heartbeat.stop()
    const { log } = this.#options
    if (exit) {
      const suspects = exit.suspects.map(({ botId, installationId }) => installationId ?? botId)
      log('warn', 'A sandbox process is killed', {
        sandboxPid: this.pid,
        reason,
        runs: this.#runs.size,
        suspects,
        ...steps,
      })
    }
    this.#runs.endAll(`its sandbox process was killed: ${reason}`, attributed)
    this.#started.reject(new Error(`A sandbox process died: ${reason}`))
    this.#options.onDead(reason, !this.#isReady, exit)
  }

  /** Handles an end that was not requested. */
  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    const reason = signal === null ? `it ended with code ${code}` : `it ended with ${signal}`
    if (signal === 'SIGKILL' || code === killedInside) this.kill(reason, { cause: 'ended', fromOutside: true })
    else this.#crashed(reason, 'ended')
  }

  /** Handles a crash, or a fault that requires a kill, and attributes it to a run tree. */
  #crashed(reason: string, cause: KillCause): void {
    const runTree = this.#attribution.runTree(this.#runs)
    this.kill(
      reason,
      runTree === undefined ? { cause } : { cause, attributed: { runTree, failure: failureOutside('crashed') } },
    )
  }

  /** Ends a run that only the end of the process can end. */
  #killBecauseOf({ runTree, bundle }: RunHandle, reason: string, cause: 'deadline' | 'protocol'): void {
    const attributed = { runTree, failure: failureOutside(cause === 'deadline' ? 'timeout' : 'crashed') }
    this.kill(reason, { cause, attributed, suspects: [ownerOf(bundle)] })
  }

  #receive(frame: unknown, bytes: number): void {
    if (this.dead) return
    const isUseful = receiveFrame(this.#frames, frame)
    if (isUseful === undefined) return this.#crashed('it sent a frame of an unknown type', 'protocol')
    if (isUseful || !this.#flood.count(bytes)) return
    const run = this.#runs.get((frame as { run?: string }).run ?? '')
    if (run === undefined) return this.#crashed(flood, 'protocol')
    this.#killBecauseOf(run, flood, 'protocol')
  }

  #frameProcess(): FrameProcess {
    return {
      attribution: this.#attribution,
      find: (id) => this.#runs.get(id),
      respond: (id, work) => void this.#respond(id, work),
      sendPart: (id, stream, part) => {
        if (this.#isOver(id)) return undefined
        this.#channel.send({ type: 'part', run: id, stream, ...part })
        return this.#channel.drained()
      },
      wantParts: (run, fetch, parts) => {
        if (!this.#isOver(run)) this.#channel.send({ type: 'wanted', run, fetch, parts })
      },
      ended: (run) => this.#removeRun(run),
      started: () => {
        if (this.#isReady) return false
        this.#isReady = true
        this.#heartbeat.start()
        this.#process.started(() => this.#crashed('it exceeded its memory limit', 'memory'))
        this.#started.resolve()
        return true
      },
      answered: (heartbeat) => {
        if (!this.#heartbeat.answered(heartbeat.rss)) return false
        this.residentBytes = heartbeat.rss
        this.#starts.report(heartbeat)
        this.#options.onBeat?.()
        return true
      },
      sendCode: (bundle) => {
        const run = this.#loadingRun(bundle)
        if (run !== undefined) void this.#sendCode(run)
        return run !== undefined
      },
      sendEnvironment: (bundle) => {
        const run = this.#loadingRun(bundle)
        if (run !== undefined)
          this.#channel.send({ type: 'environment', bundle, environment: run.bundle.environment ?? {} })
        return run !== undefined
      },
      stuck: ({ bundle, reason, turn, waited }) => {
        const owner = this.#attribution.ownerOfBundle(bundle)
        this.kill(reason.slice(0, reasonCharacters), {
          cause: 'stuck',
          ...(owner && { suspects: [owner] }),
          steps: { turn, waited },
        })
      },
    }
  }

  async #respond(run: string, work: () => Promise<ToProcess>): Promise<void> {
    // While a process does not read its replies, no further ones are made, so that they do not pile up in the worker.
    const backlog = this.#channel.drained()
    if (backlog !== undefined) await backlog
    // Without a backlog the work begins at once, so that calls which a run made before it failed are performed.
    if (this.#isOver(run)) return
    const frame = await work()
    if (!this.#isOver(run)) this.#channel.send(frame)
  }

  #isOver(run: string): boolean {
    return this.dead || this.#runs.get(run) === undefined
  }

  /** A run that may load a bundle, and has not done so before. */
  #loadingRun(bundle: string): RunHandle | undefined {
    for (const run of this.#runs) if (run.bundle.id === bundle && run.budget.takeCode()) return run
    return undefined
  }

  async #sendCode(run: RunHandle): Promise<void> {
    const { id, kind = 'native', code, environment = {} } = run.bundle
    const modules = scriptsFor(code)
    try {
      if (!modules.every((name) => this.#modules.has(name))) this.#sendModules(modules, await bundleModules())
    } catch (error) {
      this.#options.log('error', 'The modules of Node for isolates cannot be built', { error })
      return run.interrupt('the modules of Node cannot be built', 0)
    }
    this.#channel.send({ type: 'code', bundle: id, source: { kind, code, environment, modules } })
  }

  #sendModules(names: ScriptName[], programs: ModulePrograms): void {
    for (const name of names) {
      if (this.#modules.has(name)) continue
      this.#modules.add(name)
      this.#channel.send({ type: 'module', name, program: programs[name] })
    }
  }

  #removeRun(run: RunHandle): void {
    this.#runs.remove(run)
    // Deferred, so that the outcome of the run comes first.
    if (this.#isRetired && this.isIdle) setImmediate(() => this.end('it was replaced'))
  }
}
