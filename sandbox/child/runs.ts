import type { Limits } from '../protocol/contract.ts'
import { takesLine } from '../protocol/log-budget.ts'
import type { ToProcess } from '../protocol/protocol.ts'
import type { FromProcess } from '../frames.ts'
import { housekeeping, type ActiveRun, type Family } from './active-run.ts'
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

const neighbour: Ending = { type: 'interrupted', reason: 'its isolate was thrown away because of another run in it' }
const orphan: Ending = { type: 'interrupted', reason: 'the run that called it is over' }

export interface RunsOptions {
  send: (frame: FromProcess) => void
  /** An isolate has lost its last run. */
  onIdle(isolate: BotIsolate): void
}

/**
 * The runs of this process.
 *
 * A run begins when its frame arrives: its time on the wall counts from there, the loading of its bundle included. It
 * ends once, with the first of these: its kernel says so; its runTree's time, processor time or memory is up; its
 * isolate is thrown away. From then on its timers are gone, and what still arrives for it is dropped.
 */
export class Runs {
  readonly #options: RunsOptions
  readonly #active = new Map<string, ActiveRun>()
  readonly #residents = new Map<BotIsolate, Set<ActiveRun>>()

  constructor(options: RunsOptions) {
    this.#options = options
  }

  find(id: string): ActiveRun | undefined {
    return this.#active.get(id)
  }

  isIdle(isolate: BotIsolate): boolean {
    return !this.#residents.has(isolate)
  }

  /** Begins a run in an isolate that is loaded, or has its loading as the turn before. */
  begin({ run: id, hook, limits, task }: Frame<'run'>, isolate: BotIsolate): void {
    const run = this.#open(id, 'run', isolate, this.#openFamily(id, limits))
    this.#admit(run, hook, 'start', task, JSON.stringify(limits), '', hook)
  }

  /** Begins a run that another run called, in that one's isolate and runTree. */
  beginWithin({ run: id, within, hook, limits, task }: Frame<'run'>): void {
    const outer = this.#active.get(within)
    if (outer === undefined) return this.#sendEnding(id, orphan, 0)
    const run = this.#open(id, 'run', outer.isolate, outer.runTree)
    run.realm = outer.realm
    this.setActiveHook(run, hook)
    run.realm?.dispatch(run, 'start', id, task, JSON.stringify(limits), within, hook)
  }

  beginInspection({ run: id, limits }: Frame<'inspect'>, isolate: BotIsolate): void {
    const run = this.#open(id, 'inspection', isolate, this.#openFamily(id, limits))
    this.#admit(run, '', 'inspect')
  }

  /** Has a run do its first thing, in its realm. `hook` is the function of the bundle that this calls first. */
  #admit(run: ActiveRun, hook: string, operation: string, ...texts: string[]): void {
    const { isolate } = run
    const enter = (realm: Realm) => {
      run.realm = realm
      this.setActiveHook(run, hook)
      realm.dispatch(run, operation, run.id, ...texts)
    }
    isolate.realms.whenLoaded(() => {
      const { shared } = isolate.realms
      if (shared !== undefined) return enter(shared)
      isolate.enterAlone(this.#opening(run), async () => {
        if (run.endedAt !== undefined) return
        const realm = await isolate.realms.open()
        if (run.endedAt === undefined) enter(realm)
        else realm.release()
      })
    })
  }

  /** Owns the loading of an isolate: what goes wrong with it fails every run that waits for it. */
  loading(id: string, limits: Limits, isolate: BotIsolate): TurnOwner {
    const failAll = (failure: ProcessFailure) => this.abandon(isolate, { type: 'failed', ...failure })
    return {
      id,
      cpu: { limit: limits.loadMilliseconds, used: 0 },
      endedAt: undefined,
      exceeded: (limit) => failAll(limit === 'cpu' ? failures.load(limits) : failures.memory(limits)),
      threw: (thrown) => failAll({ reason: 'error', error: describeThrown(thrown, isolate.realms.star) }),
    }
  }

  /** Owns the opening of a run's own realm, with a budget of its own: what was loaded once can be loaded for each event. */
  #opening({ id, runTree, isolate }: ActiveRun): TurnOwner {
    const { limits } = runTree
    const fail = (failure: ProcessFailure) => this.#failFamily(runTree, failure)
    return {
      id,
      cpu: { limit: limits.loadMilliseconds, used: 0 },
      endedAt: undefined,
      exceeded: (limit) => fail(limit === 'cpu' ? failures.load(limits) : failures.memory(limits)),
      threw: (thrown) => fail({ reason: 'error', error: describeThrown(thrown, isolate.realms.star) }),
    }
  }

  /** Another function of the bundle is at work. */
  setActiveHook(run: ActiveRun, hook: string): void {
    run.hook = hook
    run.hookTimes.add(hook)
  }

  setTimer(run: ActiveRun, timer: string, milliseconds: number): void {
    const timeout = setTimeout(() => {
      run.timers.delete(timer)
      run.realm?.dispatch(run, 'timer', run.id, timer)
    }, milliseconds)
    run.timers.set(timer, timeout)
  }

  clearTimer(run: ActiveRun, timer: string): void {
    clearTimeout(run.timers.get(timer))
    run.timers.delete(timer)
  }

  /** Ends a run, and those that it called. */
  end(run: ActiveRun, ending: Ending): void {
    if (run.endedAt !== undefined) return
    this.#close(run, ending)
    if (run.runTree.root !== run.id) return
    clearTimeout(run.runTree.deadline)
    for (const member of run.runTree.members) this.#cutShort(member, orphan)
  }

  /** Sends a line of a run's log. One that there is no room for would count as a part of a flood. */
  log({ id, runTree }: ActiveRun, level: string, message: string): void {
    if (!takesLine(runTree.logged, runTree.limits, message)) return
    this.#options.send({ type: 'log', run: id, level, message, timestamp: new Date().toISOString() })
  }

  /** Ends a run, those that it called and those that called it, through no fault of theirs. */
  interrupt(id: string, reason: string): void {
    const runTree = this.#active.get(id)?.runTree
    if (runTree !== undefined) this.#endFamily(runTree, () => ({ type: 'interrupted', reason }))
  }

  /** Ends all runs of an isolate, as interrupted unless told otherwise, and throws it away. */
  abandon(isolate: BotIsolate, ending: Ending = neighbour): void {
    isolate.dispose()
    for (const run of this.#residents.get(isolate) ?? []) {
      clearTimeout(run.runTree.deadline)
      this.#close(run, ending)
    }
    this.#options.onIdle(isolate)
  }

  #openFamily(root: string, limits: Limits): Family {
    const runTree: Family = {
      root,
      limits,
      cpu: { limit: limits.cpuMilliseconds, used: 0 },
      members: new Set(),
      logged: { lines: 0, characters: 0 },
      deadline: setTimeout(() => this.#failFamily(runTree, failures.timeout(limits)), limits.wallMilliseconds),
    }
    return runTree
  }

  #open(id: string, kind: ActiveRun['kind'], isolate: BotIsolate, runTree: Family): ActiveRun {
    const run: ActiveRun = {
      id,
      kind,
      isolate,
      realm: undefined,
      runTree,
      cpu: runTree.cpu,
      timers: new Map(),
      hook: '',
      hookTimes: new HookTimes(),
      endedAt: undefined,
      exceeded: (limit) => this.#failFamily(runTree, failures[limit](runTree.limits)),
      threw: (thrown) => this.#logForgotten(run, thrown),
    }
    runTree.members.add(run)
    this.#active.set(id, run)
    const residents = this.#residents.get(isolate) ?? new Set()
    this.#residents.set(isolate, residents.add(run))
    return run
  }

  #failFamily(runTree: Family, failure: ProcessFailure): void {
    this.#endFamily(runTree, ({ hook }) => ({ type: 'failed', ...failure, hook }))
  }

  #endFamily(runTree: Family, endingOf: (member: ActiveRun) => Ending): void {
    clearTimeout(runTree.deadline)
    for (const member of runTree.members) this.#cutShort(member, endingOf(member))
  }

  /** Ends a run that its kernel believes to be under way. */
  #cutShort(run: ActiveRun, ending: Ending): void {
    this.#close(run, ending)
    run.realm?.dispatch(housekeeping(), 'end', run.id)
  }

  #close(run: ActiveRun, ending: Ending): void {
    const { isolate, runTree } = run
    run.endedAt = performance.now()
    this.#active.delete(run.id)
    runTree.members.delete(run)
    for (const timeout of run.timers.values()) clearTimeout(timeout)
    run.timers.clear()
    const cpu = isolate.cpuOf(run)
    if (runTree.members.size === 0 && run.realm !== isolate.realms.shared) run.realm?.release()
    // Should the process have to be killed, nobody begins another run in it because this one has ended.
    const hooks = run.hookTimes.toText()
    isolate.whenLeft(() => this.#sendEnding(run.id, ending, cpu, hooks))
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

  #logForgotten(run: ActiveRun, thrown: unknown): void {
    if (run.endedAt !== undefined) return
    const { name, message, stack } = describeThrown(thrown, run.isolate.realms.star)
    const text = `Unhandled rejection: ${name}: ${message}${stack === undefined ? '' : `\n${stack}`}`
    this.log(run, 'error', text)
  }
}
