import type { Limits } from '../protocol/contract.ts'
import { postedFrame, type FromProcess } from '../host/frames.ts'
import type { ToProcess } from '../protocol/protocol.ts'
import { BotIsolate } from './bot-isolate.ts'
import { BundleProgram } from './bundle-program.ts'
import { readFailure } from './failures.ts'
import type { Ivm } from './isolated-vm.ts'
import { KeptPrograms } from './kept-programs.ts'
import { housekeeping, type ProcessRun } from './process-run.ts'
import type { Realm } from './realm.ts'
import type { LoadedBundle } from './realms.ts'
import { Runs } from './runs.ts'
import type { Scripts } from './scripts.ts'
import { PrewarmedIsolate } from './prewarmed-isolate.ts'
import type { Turn } from './turn.ts'
import { WarmIsolates } from './warm-isolates.ts'
import { Watchdog } from './watchdog.ts'

export interface ProcessSandboxOptions {
  ivm: Ivm
  scripts: Scripts
  softBytes: number
  isolates: number
  send: (frame: FromProcess) => void
}

type Frame<Type extends ToProcess['type']> = Extract<ToProcess, { type: Type }>

/** The sandbox of this process: it assigns isolates to runs, and passes frames between the worker and the kernels. */
export class ProcessSandbox {
  readonly #options: ProcessSandboxOptions
  readonly #runs: Runs
  readonly #warm: WarmIsolates
  readonly #watchdog: Watchdog
  /** Isolates that get no further runs: those of inspections, and those that have used up a budget for their life. */
  readonly #retired = new Set<BotIsolate>()
  /** Bundles that the worker has been asked for; with `program`, only for the environment. */
  readonly #asked = new Map<string, PromiseWithResolvers<LoadedBundle> & { program: BundleProgram | undefined }>()
  readonly #kept: KeptPrograms
  /** Isolates whose code cache is being made, each with the ended run to which a crash meanwhile is attributed. */
  readonly #compiling = new Map<BotIsolate, string>()
  /** Runs and inspections so far, without runs that other runs called. */
  #begun = 0
  readonly #spare = new PrewarmedIsolate((memoryMegabytes) => this.#makeIsolate(memoryMegabytes))

  constructor(options: ProcessSandboxOptions) {
    this.#options = options
    this.#runs = new Runs({ send: options.send, onIdle: (isolate) => this.#becameIdle(isolate) })
    const { softBytes, isolates } = options
    this.#kept = new KeptPrograms(softBytes)
    const isIdle = (isolate: BotIsolate) => this.#runs.isIdle(isolate) && !this.#compiling.has(isolate)
    this.#warm = new WarmIsolates({ softBytes, isolates, isIdle })
    this.#watchdog = new Watchdog({
      overspent: (isolate, turn) => {
        isolate.dispose()
        turn.owner.exceeded('cpu')
        this.#runs.abandon(isolate)
      },
      lingering: (isolate) => this.#runs.abandon(isolate),
      long: (turn) => this.#sendTurn('long', turn),
    })
  }

  receive(frame: Exclude<ToProcess, { type: 'start' }>): void {
    switch (frame.type) {
      case 'ping':
        return this.#options.send({ type: 'pong', rss: process.memoryUsage.rss(), ...this.#starts() })
      case 'run':
        return this.#run(frame)
      case 'inspect':
        return this.#inspect(frame)
      case 'module':
        return this.#options.scripts.addModule(frame.name, frame.program)
      case 'code':
        return this.#receiveCode(frame)
      case 'environment': {
        const program = this.#asked.get(frame.bundle)?.program
        return program && this.#receiveBundle(frame.bundle, { program, environment: frame.environment })
      }
      case 'reply': {
        const run = this.#runs.find(frame.run)
        run?.realm?.dispatch(run, 'reply', run.id, frame.call, frame.reply)
        return
      }
      case 'fetched': {
        const run = this.#runs.find(frame.run)
        return run?.realm?.dispatch(run, 'fetched', run.id, frame.fetch, frame.answer, frame.body)
      }
      case 'wanted': {
        const run = this.#runs.find(frame.run)
        return run?.realm?.dispatch(run, 'wanted', run.id, frame.fetch, `${frame.parts}`)
      }
      case 'part':
        return this.#receivePart(frame)
      case 'interrupt':
        this.#runs.interrupt(frame.run, frame.reason)
    }
  }

  #receivePart({ run: id, stream, data, isBase64, isLast, failure }: Frame<'part'>): void {
    const run = this.#runs.find(id)
    if (run === undefined) return
    const rest = [stream, `${isLast}`, failure]
    if (isBase64 === 0 || data === '') return run.realm?.dispatch(run, 'part', id, data, ...rest)
    const { ExternalCopy } = this.#options.ivm
    // A copy with its own memory: small buffers share a pool, which would be transferred with all of its contents.
    const bytes = () => new ExternalCopy(new Uint8Array(Buffer.from(data, 'base64')).buffer).copyInto({ release: true })
    run.realm?.dispatchBytes(run, 'part', id, bytes, ...rest)
  }

  #starts(): { warm: number; spare: number; cold: number } {
    const { spare, cold } = this.#spare.taken
    return { warm: this.#begun - spare - cold, spare, cold }
  }

  #run(frame: Frame<'run'>): void {
    if (frame.within !== '') return this.#runs.beginWithin(frame)
    this.#begun += 1
    const isolate = this.#warm.get(frame.bundle, () => this.#load(frame))
    this.#runs.begin(frame, isolate)
  }

  #inspect(frame: Frame<'inspect'>): void {
    this.#begun += 1
    const isolate = this.#load(frame)
    this.#retired.add(isolate)
    this.#runs.beginInspection(frame, isolate)
  }

  /** Makes an isolate whose first turn loads the bundle. */
  #load({ run, bundle, limits }: { run: string; bundle: string; limits: Limits }): BotIsolate {
    const isolate = this.#spare.take(limits.memoryMegabytes)
    isolate.bundle = bundle
    const loading = this.#runs.loading(run, limits, isolate)
    isolate.enterExclusively(loading, async () => isolate.realms.load(await this.#bundleOf(bundle)))
    return isolate
  }

  /** Asks the worker for a bundle, or only for its environment. */
  #bundleOf(bundle: string): Promise<LoadedBundle> {
    const known = this.#asked.get(bundle)
    if (known !== undefined) return known.promise
    const program = this.#kept.get(bundle)
    const asked = { ...Promise.withResolvers<LoadedBundle>(), program }
    this.#asked.set(bundle, asked)
    this.#options.send({ type: program === undefined ? 'code' : 'environment', bundle })
    return asked.promise
  }

  #receiveCode({ bundle, source: { environment, ...source } }: Frame<'code'>): void {
    const { ivm, scripts } = this.#options
    if (!this.#asked.has(bundle)) return
    this.#receiveBundle(bundle, { program: new BundleProgram(ivm, scripts, source), environment })
  }

  #receiveBundle(bundle: string, loaded: LoadedBundle): void {
    this.#asked.get(bundle)?.resolve(loaded)
    this.#asked.delete(bundle)
  }

  #makeIsolate(memoryMegabytes: number): BotIsolate {
    const { ivm, scripts, send } = this.#options
    const isolate: BotIsolate = new BotIsolate({
      ivm,
      scripts,
      memoryMegabytes,
      events: {
        posted: (realm, kind, run, first, second) => {
          if (kind === 'exhausted') this.#retire(isolate)
          else if (kind === 'bodyPart') this.#postedPart(realm, run, first, second)
          else if (typeof second === 'string') this.#posted(realm, kind, run, first, second)
        },
        turnStarted: () => this.#watchdog.watch(isolate),
        turnEnded: (turn) => {
          if (turn.reportedLong) this.#sendTurn('over', turn)
        },
        turnCharged: ({ owner }) => {
          if (owner.cpu.used >= owner.cpu.limit && owner.endedAt === undefined) owner.exceeded('cpu')
        },
        outOfMemory: (turn) => {
          turn?.owner.exceeded('memory')
          this.#runs.abandon(isolate)
        },
        stuck: (reason, turn, waited) => send({ type: 'stuck', bundle: isolate.bundle, reason, turn, waited }),
      },
    })
    return isolate
  }

  /** Sends the start or the end of a long turn, unless its run is being reported for its code cache. */
  #sendTurn(type: 'long' | 'over', { owner: { id } }: Turn): void {
    if (!this.#compiling.values().some((run) => run === id)) this.#options.send({ type, run: id })
  }

  /** A kernel posts about runs in its own realm only; anything else it posts is dropped. */
  #posted(realm: Realm, kind: string, id: string, first: string, second: string): void {
    const run = this.#runs.find(id)
    if (run === undefined || run.realm !== realm) return
    switch (kind) {
      case 'log':
        return this.#runs.log(run, first, second)
      case 'active':
        return this.#runs.setActiveHook(run, first)
      case 'timers':
        return realm.dispatch(run, 'arm', id)
      case 'timer':
        return this.#runs.setTimer(run, Number(first))
      case 'quiet':
        return realm.dispatch(run, 'quiet', id)
      case 'done':
        return this.#done(run, first, second)
      case 'failed':
        return this.#runs.end(run, { type: 'failed', ...readFailure(first, second) })
      default: {
        const frame = postedFrame(kind, id, first, second)
        if (frame !== undefined) this.#options.send(frame)
      }
    }
  }

  #done(run: ProcessRun, result: string, state: string): void {
    const { isolate } = run
    const isFirst = !this.#retired.has(isolate) && !this.#compiling.has(isolate) && this.#kept.takes(isolate)
    if (isFirst) {
      this.#compiling.set(isolate, run.id)
      this.#options.send({ type: 'long', run: run.id })
    }
    this.#runs.end(run, { type: 'done', result, state })
    if (isFirst) isolate.enterExclusively(housekeeping(run.id), () => this.#makeCodeCache(isolate))
    else if (!this.#compiling.has(isolate)) isolate.realms.releaseProgram()
  }

  async #makeCodeCache(isolate: BotIsolate): Promise<void> {
    try {
      await this.#kept.keep(isolate)
    } finally {
      isolate.realms.releaseProgram()
      this.#endCompiling(isolate)
      if (this.#runs.isIdle(isolate)) this.#becameIdle(isolate)
    }
  }

  #endCompiling(isolate: BotIsolate): void {
    const run = this.#compiling.get(isolate)
    if (run === undefined) return
    this.#compiling.delete(isolate)
    this.#options.send({ type: 'over', run })
  }

  /** A part of a request's body; `names` are that of the request and the state. */
  #postedPart(realm: Realm, id: string, names: string, data: string | ArrayBuffer): void {
    if (this.#runs.find(id)?.realm !== realm) return
    const [fetch = '', state = ''] = names.split(' ')
    const text = typeof data === 'string' ? data : Buffer.from(data).toString('base64')
    const isBase64 = typeof data === 'string' ? 0 : 1
    this.#options.send({ type: 'bodyPart', run: id, fetch, state, data: text, isBase64 })
  }

  #retire(isolate: BotIsolate): void {
    this.#retired.add(isolate)
    this.#warm.remove(isolate)
  }

  #becameIdle(isolate: BotIsolate): void {
    if (this.#retired.has(isolate)) isolate.dispose()
    if (!isolate.dead) return
    this.#endCompiling(isolate)
    this.#retired.delete(isolate)
    this.#warm.remove(isolate)
  }
}
