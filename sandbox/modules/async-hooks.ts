import { callSites } from './call-sites.ts'

type Callback = (...values: unknown[]) => unknown

/** The value of a storage for a part of a run, linked to that of the part around it. */
interface Frame {
  store: unknown
  before: Frame | undefined
  hasEnded: boolean
  /** A frame around another one has a lower one. */
  number: number
}

/** The frames of a run that are open. */
interface OpenFrames {
  latest: Frame | undefined
  /** By the names of the functions that wait for them. */
  named: Map<string, Frame>
  /** The number of the frame whose branches are open, several beside each other; 0 for the run itself. */
  branchesOf: number | undefined
}

/** The runs whose stores a storage remembers: more than an isolate has at the same time. */
const maxRuns = 1000
/** The calls, and waiting functions, among which the part of a run is looked for. */
const maxCalls = 1000

let frameCount = 0

/** Whether it is a promise of a class of its own, whose further methods the caller may need: no other one can stand for it. */
function isOther(result: unknown): result is Promise<unknown> {
  return result instanceof Promise && result.constructor !== Promise
}

/** The names of the functions that are called, and of those that wait for them, from the inside to the outside. */
function callers(): (string | null)[] {
  return callSites(maxCalls).map((call) => call.getFunctionName())
}

/**
 * Makes Node's `AsyncLocalStorage`, as far as an engine without asynchronous contexts can have it: a store is that of the run, a
 * hook or a handler with all that it awaits, until the promise of its callback settles. Runs at the same time have stores of their own.
 *
 * Of branches of one run that are carried out at the same time, each has its own store where functions await each other up to the
 * callback: then the trace of the engine names the function that waits for it. Elsewhere a branch has the store of the latest one.
 *
 * @param runName the name of the run whose turn it is; empty while a module loads
 */
function createStorageClass(runName: () => string) {
  return class AsyncLocalStorage {
    readonly #runs = new Map<string, OpenFrames>()

    run(store: unknown, callback: Callback, ...values: unknown[]): unknown {
      const run = runName()
      const open = this.#open(run)
      const outer = open.latest && this.#awaited(open)
      const branchesOf = outer === open.latest ? undefined : (outer?.number ?? 0)
      if (branchesOf !== undefined) open.branchesOf = Math.min(branchesOf, open.branchesOf ?? branchesOf)
      const frame = this.#enter(open, store)
      const name = `AsyncLocalStorage ${frame.number}`
      open.named.set(name, frame)
      const leave = () => {
        open.named.delete(name)
        this.#leave(run, frame)
      }
      let result: unknown
      let failure: { error: unknown } | undefined
      // The trace names it. It alone awaits the result: a promise that two await is in no trace.
      const { [name]: wait } = {
        async [name]() {
          try {
            result = callback(...values)
          } catch (error) {
            failure = { error }
          }
          if (isOther(result)) return void result.then(leave, leave)
          try {
            return result instanceof Promise ? await result : undefined
          } finally {
            leave()
          }
        },
      }
      const waited = wait!()
      if (failure) throw failure.error
      return result instanceof Promise && !isOther(result) ? waited : result
    }

    exit(callback: Callback, ...values: unknown[]): unknown {
      return this.run(undefined, callback, ...values)
    }

    enterWith(store: unknown): void {
      const open = this.#open(runName())
      const frame = open.branchesOf !== undefined && this.#awaited(open)
      if (frame) frame.store = store
      else this.#enter(open, store)
    }

    getStore(): unknown {
      const open = this.#runs.get(runName())
      if (!open) return undefined
      return ((open.branchesOf !== undefined && this.#awaited(open)) || open.latest)?.store
    }

    disable(): void {
      this.#runs.clear()
    }

    static bind(callback: Callback): Callback {
      return callback
    }

    static snapshot(): Callback {
      return (callback, ...values) => (callback as Callback)(...values)
    }

    #open(run: string): OpenFrames {
      const open = this.#runs.get(run) ?? { latest: undefined, named: new Map<string, Frame>(), branchesOf: undefined }
      this.#runs.delete(run)
      this.#runs.set(run, open)
      if (this.#runs.size > maxRuns) this.#runs.delete(this.#runs.keys().next().value!)
      return open
    }

    /** The innermost frame whose callback awaits the present call. */
    #awaited({ named }: OpenFrames): Frame | undefined {
      for (const name of callers()) {
        const frame = name === null ? undefined : named.get(name)
        if (frame) return frame
      }
      return undefined
    }

    #enter(open: OpenFrames, store: unknown): Frame {
      frameCount += 1
      return (open.latest = { store, before: open.latest, hasEnded: false, number: frameCount })
    }

    #leave(run: string, frame: Frame): void {
      frame.hasEnded = true
      const open = this.#runs.get(run)
      if (!open) return
      while (open.latest?.hasEnded) open.latest = open.latest.before
      if (open.branchesOf !== undefined && (open.latest?.number ?? 0) <= open.branchesOf) open.branchesOf = undefined
      if (!open.latest) this.#runs.delete(run)
    }
  }
}

class AsyncResource {
  readonly type: string

  constructor(type: string) {
    this.type = type
  }

  runInAsyncScope(callback: Callback, self: unknown, ...values: unknown[]): unknown {
    return Reflect.apply(callback, self, values)
  }

  bind(callback: Callback): Callback {
    return callback
  }

  emitDestroy(): this {
    return this
  }

  asyncId(): number {
    return 0
  }

  triggerAsyncId(): number {
    return 0
  }

  static bind(callback: Callback): Callback {
    return callback
  }
}

/** Makes the module; see `createStorageClass`. */
export function createAsyncHooks(runName: () => string) {
  return {
    AsyncLocalStorage: createStorageClass(runName),
    AsyncResource,
    createHook: () => ({ enable() {}, disable() {} }),
    executionAsyncId: () => 0,
    executionAsyncResource: () => ({}),
    triggerAsyncId: () => 0,
  }
}
