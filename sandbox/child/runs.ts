import type { Limits } from '../protocol/contract.ts'
import { takesLine } from '../protocol/log-budget.ts'
import type { ToProcess } from '../protocol/protocol.ts'
import type { FromProcess } from '../host/frames.ts'
import { housekeeping, type ProcessRun, type RunTree } from './process-run.ts'
import type { BotIsolate } from './bot-isolate.ts'
import type { TurnOwner } from './turn.ts'
import { describeThrown, failures, type ProcessFailure } from './failures.ts'
import { HookTimes } from './hook-times.ts'
import type { Realm } from './realm.ts'

export type Ending =
  | { type: 'done'; result: string; state: string }
  | ({ type: 'failed' } & ProcessFailure)
  | { type: 'interrupted'; reason: string }

type Frame<Type extends ToProcess['type']> = Extract<ToProcess, { type: Type }>

const discarded: Ending = { type: 'interrupted', reason: 'its isolate was disposed because of another run in it' }
const orphaned: Ending = { type: 'interrupted', reason: 'the run that called it has ended' }

export interface RunsOptions {
  send: (frame: FromProcess) => void
  /** The last run of an isolate has ended. */
  onIdle(isolate: BotIsolate): void
}

/**
 * The runs of this process.
 *
 * A run begins when its frame arrives: its wall time counts from there, the loading of its bundle included. It ends
 * once, with the first of these: its kernel reports the end; its run tree's wall time, processor time or memory is used
 * up; its isolate is disposed. From then on its timers are removed, and frames that still arrive for it are dropped.
 */
export class Runs {
  readonly #options: RunsOptions
  readonly #active = new Map<string, ProcessRun>()
  readonly #residents = new Map<BotIsolate, Set<ProcessRun>>()

  constructor(options: RunsOptions) {
    this.#options = options
  }

  find(id: string): ProcessRun | undefined {
    return this.#active.get(id)
  }

  isIdle(isolate: BotIsolate): boolean {
    return !this.#residents.has(isolate)
  }

  /** Begins a run in an isolate that is loaded, or that loads in an earlier turn. */
  begin({ run: id, hook, limits, task }: Frame<'run'>, isolate: BotIsolate): void {
    const run = this.#open(id, 'run', isolate, this.#openTree(id, limits))
    this.#admit(run, hook, 'start', task, JSON.stringify(limits), '', hook)
  }

  /** Begins a run that another run called, in the isolate and run tree of its caller. */
  beginWithin({ run: id, within, hook, limits, task }: Frame<'run'>): void {
    const outer = this.#active.get(within)
    if (outer === undefined) return this.#sendEnding(id, orphaned, 0)
    const run = this.#open(id, 'run', outer.isolate, outer.runTree)
    run.realm = outer.realm
    this.setActiveHook(run, hook)
    run.realm?.dispatch(run, 'start', id, task, JSON.stringify(limits), within, hook)
  }

  beginInspection({ run: id, limits }: Frame<'inspect'>, isolate: BotIsolate): void {
    const run = this.#open(id, 'inspection', isolate, this.#openTree(id, limits))
    this.#admit(run, '', 'inspect')
  }

  /**
   * Dispatches the first operation of a run, in its realm. `hook` is the function of the bundle that this operation
   * calls first.
   */
  #admit(run: ProcessRun, hook: string, operation: string, ...texts: string[]): void {
    const { isolate } = run
    const enter = (realm: Realm) => {
      run.realm = realm
      this.setActiveHook(run, hook)
      realm.dispatch(run, operation, run.id, ...texts)
    }
    isolate.realms.whenLoaded(() => {
      const { shared } = isolate.realms
      if (shared !== undefined) return enter(shared)
      isolate.enterExclusively(this.#opening(run), async () => {
        if (run.endedAt !== undefined) return
        const realm = await isolate.realms.open()
        if (run.endedAt === undefined) enter(realm)
        else realm.release()
      })
    })
  }

  /** Makes the owner of an isolate's loading, whose failure fails every run that waits for it. */
  loading(id: string, limits: Limits, isolate: BotIsolate): TurnOwner {
    const failAll = (failure: ProcessFailure) => this.abandon(isolate, { type: 'failed', ...failure })
    return {
      id,
      cpu: { limit: limits.loadMilliseconds, used: 0 },
      endedAt: undefined,
      exceeded: (limit) => failAll(limit === 'cpu' ? failures.load(limits) : failures.memory(limits)),
      threw: (thrown) => failAll({ reason: 'error', error: describeThrown(thrown, isolate.realms.redact) }),
    }
  }

  /**
   * Makes the owner of the opening of a run's own realm, with a budget of its own: a bundle that could be loaded once
   * can be loaded for each event.
   */
  #opening({ id, runTree, isolate }: ProcessRun): TurnOwner {
    const { limits } = runTree
    const fail = (failure: ProcessFailure) => this.#failTree(runTree, failure)
    return {
      id,
      cpu: { limit: limits.loadMilliseconds, used: 0 },
      endedAt: undefined,
      exceeded: (limit) => fail(limit === 'cpu' ? failures.load(limits) : failures.memory(limits)),
      threw: (thrown) => fail({ reason: 'error', error: describeThrown(thrown, isolate.realms.redact) }),
    }
  }

  /** Records the active function of a run. */
  setActiveHook(run: ProcessRun, hook: string): void {
    run.hook = hook
    run.hookTimes.add(hook)
  }

  /** Sets the timer of a run, in place of an earlier one. */
  setTimer(run: ProcessRun, milliseconds: number): void {
    clearTimeout(run.timer)
    const fire = () => run.realm?.dispatch(run, 'timer', run.id)
    if (milliseconds > 0) run.timer = setTimeout(fire, milliseconds)
    else fire()
  }

  /**
   * Ends a run whose kernel has reported the end, and the runs that it called. The end is sent when the turn of that report
   * is over: V8 knows only then which rejections of the turn are unhandled, and they belong in the log of the run.
   */
  end(run: ProcessRun, ending: Ending): void {
    if (run.endedAt !== undefined) return
    const send = this.#close(run, ending)
    const { runTree, isolate } = run
    const isRoot = runTree.root === run.id
    if (isRoot) clearTimeout(runTree.deadline)
    isolate.whenTurnEnded(() => {
      send()
      this.#leave(run)
      if (isRoot) for (const member of runTree.members) this.#cutShort(member, orphaned)
    })
  }

  /**
   * Sends a log line of a run. A line beyond the limits is not sent, because the worker would count it as part of a
   * flood.
   */
  log({ id, runTree }: ProcessRun, level: string, message: string): void {
    if (!takesLine(runTree.logged, runTree.limits, message)) return
    this.#options.send({ type: 'log', run: id, level, message, timestamp: new Date().toISOString() })
  }

  /** Ends the whole run tree of a run as interrupted. */
  interrupt(id: string, reason: string): void {
    const runTree = this.#active.get(id)?.runTree
    if (runTree !== undefined) this.#endTree(runTree, () => ({ type: 'interrupted', reason }))
  }

  /** Ends all runs of an isolate, by default as interrupted, and disposes it. */
  abandon(isolate: BotIsolate, ending: Ending = discarded): void {
    isolate.dispose()
    for (const run of this.#residents.get(isolate) ?? []) {
      clearTimeout(run.runTree.deadline)
      this.#cutShort(run, ending)
    }
    this.#options.onIdle(isolate)
  }

  #openTree(root: string, limits: Limits): RunTree {
    const runTree: RunTree = {
      root,
      limits,
      cpu: { limit: limits.cpuMilliseconds, used: 0 },
      members: new Set(),
      logged: { lines: 0, characters: 0 },
      deadline: setTimeout(() => this.#failTree(runTree, failures.timeout(limits)), limits.wallMilliseconds),
    }
    return runTree
  }

  #open(id: string, kind: ProcessRun['kind'], isolate: BotIsolate, runTree: RunTree): ProcessRun {
    const run: ProcessRun = {
      id,
      kind,
      isolate,
      realm: undefined,
      runTree,
      cpu: runTree.cpu,
      timer: undefined,
      hook: '',
      hookTimes: new HookTimes(),
      endedAt: undefined,
      exceeded: (limit) => this.#failTree(runTree, failures[limit](runTree.limits)),
      threw: (thrown) => this.#logUnawaited(run, thrown),
    }
    runTree.members.add(run)
    this.#active.set(id, run)
    const residents = this.#residents.get(isolate) ?? new Set()
    this.#residents.set(isolate, residents.add(run))
    return run
  }

  #failTree(runTree: RunTree, failure: ProcessFailure): void {
    this.#endTree(runTree, ({ hook }) => ({ type: 'failed', ...failure, hook }))
  }

  #endTree(runTree: RunTree, endingOf: (member: ProcessRun) => Ending): void {
    clearTimeout(runTree.deadline)
    for (const member of runTree.members) this.#cutShort(member, endingOf(member))
  }

  /** Ends a run that its kernel still considers to be in flight. */
  #cutShort(run: ProcessRun, ending: Ending): void {
    if (run.endedAt !== undefined) return
    const send = this.#close(run, ending)
    // The end is sent after the thread has left: if the process has to be killed, the worker must not have begun
    // another run in it because of this end.
    run.isolate.whenThreadEnded(send)
    this.#leave(run)
    run.realm?.dispatch(housekeeping(), 'end', run.id)
  }

  /** Returns a function that sends the end. */
  #close(run: ProcessRun, ending: Ending): () => void {
    const { isolate, runTree } = run
    run.endedAt = performance.now()
    this.#active.delete(run.id)
    runTree.members.delete(run)
    clearTimeout(run.timer)
    const cpu = isolate.cpuOf(run)
    if (runTree.members.size === 0 && run.realm !== isolate.realms.shared) run.realm?.release()
    const hooks = run.hookTimes.toText()
    return () => this.#sendEnding(run.id, ending, cpu, hooks)
  }

  #leave(run: ProcessRun): void {
    const { isolate } = run
    const residents = this.#residents.get(isolate)
    residents?.delete(run)
    if (residents?.size !== 0) return
    this.#residents.delete(isolate)
    this.#options.onIdle(isolate)
  }

  #sendEnding(run: string, ending: Ending, milliseconds: number, hooks = ''): void {
    const cpu = Math.round(milliseconds * 100) / 100
    if (ending.type === 'interrupted') return this.#options.send({ ...ending, run, cpu })
    if (ending.type === 'done') return this.#options.send({ ...ending, run, cpu, hooks })
    const { reason, error, hook } = ending
    const { name, message, stack } = error
    this.#options.send({ type: 'failed', run, reason, name, message, stack: stack ?? '', hook: hook ?? '', cpu, hooks })
  }

  #logUnawaited(run: ProcessRun, thrown: unknown): void {
    if (!this.#residents.get(run.isolate)?.has(run)) return
    const { name, message, stack } = describeThrown(thrown, run.isolate.realms.redact)
    const text = `Unhandled rejection: ${name}: ${message}${stack === undefined ? '' : `\n${stack}`}`
    this.log(run, 'error', text)
  }
}
