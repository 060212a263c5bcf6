import type { ClientOperation, Limits } from '../contract.ts'
import type { BundleSource, FromProcess, ToProcess } from '../protocol.ts'
import { BotIsolate, type Turn } from './bot-isolate.ts'
import { readError, readFailure } from './failures.ts'
import type { Ivm } from './isolated-vm.ts'
import { Preludes } from './preludes.ts'
import { Runs } from './runs.ts'
import { WarmIsolates } from './warm-isolates.ts'
import { Watchdog } from './watchdog.ts'

export interface ProcessSandboxOptions {
  ivm: Ivm
  inside: string
  web: string
  sdk: string
  operations: ClientOperation[]
  send: (frame: FromProcess) => void
}

type Frame<Type extends ToProcess['type']> = Extract<ToProcess, { type: Type }>

/** Everything of this process together: which run gets which isolate, and what either says to whom. */
export class ProcessSandbox {
  readonly #options: ProcessSandboxOptions
  readonly #runs: Runs
  readonly #warm: WarmIsolates
  readonly #watchdog: Watchdog
  /** Isolates that no further run should get: an inspection's, or one whose budgets for its life are spent. */
  readonly #retired = new Set<BotIsolate>()
  readonly #sources = new Map<string, PromiseWithResolvers<BundleSource>>()
  readonly #preludes: Preludes

  constructor(options: ProcessSandboxOptions) {
    this.#options = options
    this.#preludes = new Preludes(options)
    this.#runs = new Runs({ send: options.send, onIdle: (isolate) => this.#becameIdle(isolate) })
    this.#warm = new WarmIsolates((isolate) => this.#runs.isIdle(isolate))
    this.#watchdog = new Watchdog({
      overspent: (isolate, turn) => {
        isolate.dispose()
        turn.owner.exceeded('cpu')
        this.#runs.abandon(isolate)
      },
      lingering: (isolate) => this.#runs.abandon(isolate),
      long: (turn) => options.send({ type: 'long', run: turn.owner.id }),
    })
  }

  receive(frame: Exclude<ToProcess, { type: 'start' }>): void {
    switch (frame.type) {
      case 'ping':
        return this.#options.send({ type: 'pong' })
      case 'run':
        return this.#run(frame)
      case 'inspect':
        return this.#inspect(frame)
      case 'code':
        this.#sources.get(frame.bundle)?.resolve(frame.source)
        this.#sources.delete(frame.bundle)
        return
      case 'reply': {
        const run = this.#runs.find(frame.run)
        run?.isolate.dispatch(run, 'reply', run.id, frame.call, frame.reply)
        return
      }
      case 'fetched': {
        const run = this.#runs.find(frame.run)
        run?.isolate.dispatch(run, 'fetched', run.id, frame.fetch, frame.answer, frame.body)
      }
    }
  }

  #run(frame: Frame<'run'>): void {
    if (frame.within !== '') return this.#runs.beginWithin(frame)
    const isolate = this.#warm.get(frame.bundle, () => this.#load(frame))
    this.#runs.begin(frame, isolate)
  }

  #inspect(frame: Frame<'inspect'>): void {
    const isolate = this.#load(frame)
    this.#retired.add(isolate)
    this.#runs.beginInspection(frame, isolate)
  }

  /** Makes an isolate whose first turn loads the bundle. */
  #load({ run, bundle, limits }: { run: string; bundle: string; limits: Limits }): BotIsolate {
    const isolate = this.#makeIsolate(limits.memoryMegabytes)
    const loading = this.#runs.loading(run, limits, isolate)
    isolate.enter(loading, async () => {
      const error = await isolate.load(await this.#sourceOf(bundle))
      if (error !== '') this.#runs.abandon(isolate, { type: 'failed', reason: 'error', error: readError(error) })
    })
    return isolate
  }

  #sourceOf(bundle: string): Promise<BundleSource> {
    const known = this.#sources.get(bundle)
    if (known !== undefined) return known.promise
    const asked = Promise.withResolvers<BundleSource>()
    this.#sources.set(bundle, asked)
    this.#options.send({ type: 'code', bundle })
    return asked.promise
  }

  #makeIsolate(memoryMegabytes: number): BotIsolate {
    const { ivm, inside, operations, send } = this.#options
    const isolate: BotIsolate = new BotIsolate({
      ivm,
      inside,
      preludes: this.#preludes,
      operations,
      memoryMegabytes,
      events: {
        posted: (kind, run, first, second) => this.#posted(isolate, kind, run, first, second),
        turnStarted: () => this.#watchdog.watch(isolate),
        turnEnded: (turn) => this.#turnEnded(turn),
        outOfMemory: (turn) => {
          turn?.owner.exceeded('memory')
          this.#runs.abandon(isolate)
        },
        stuck: (reason) => send({ type: 'stuck', reason }),
      },
    })
    return isolate
  }

  /** What a kernel says concerns runs in its own isolate only; whatever else it says is not heard. */
  #posted(isolate: BotIsolate, kind: string, id: string, first: string, second: string): void {
    if (kind === 'worn') return this.#retire(isolate)
    const run = this.#runs.find(id)
    if (run === undefined || run.isolate !== isolate) return
    const { send } = this.#options
    switch (kind) {
      case 'call':
        return send({ type: 'call', run: id, call: first, request: second })
      case 'fetch':
        return send({ type: 'fetch', run: id, fetch: first, request: second })
      case 'unfetch':
        return send({ type: 'unfetch', run: id, fetch: first })
      case 'log':
        return send({ type: 'log', run: id, level: first, message: second, timestamp: new Date().toISOString() })
      case 'timer':
        return this.#runs.setTimer(run, first, Number(second))
      case 'untimer':
        return this.#runs.clearTimer(run, first)
      case 'quiet':
        return isolate.dispatch(run, 'quiet', id)
      case 'done':
        return this.#runs.end(run, { type: 'done', result: first, state: second })
      case 'failed':
        return this.#runs.end(run, { type: 'failed', ...readFailure(first, second) })
    }
  }

  #turnEnded(turn: Turn): void {
    if (turn.reportedLong) this.#options.send({ type: 'over', run: turn.owner.id })
    const { cpu, endedAt } = turn.owner
    if (cpu.used >= cpu.limit && endedAt === undefined) turn.owner.exceeded('cpu')
  }

  #retire(isolate: BotIsolate): void {
    this.#retired.add(isolate)
    this.#warm.forget(isolate)
  }

  #becameIdle(isolate: BotIsolate): void {
    if (this.#retired.has(isolate)) isolate.dispose()
    if (!isolate.dead) return
    this.#retired.delete(isolate)
    this.#warm.forget(isolate)
  }
}
