type Callback = (...values: unknown[]) => unknown

/** The value of a storage for a part of a run, linked to that of the part around it. */
interface Frame {
  store: unknown
  before: Frame | undefined
  hasEnded: boolean
}

/** The runs whose stores a storage remembers: more than an isolate has at the same time. */
const maxRuns = 1000

/**
 * Makes Node's `AsyncLocalStorage`, as far as an engine without asynchronous contexts can have it: a store is that of the run, a
 * hook or a handler with all that it awaits, until the promise of its callback settles. Runs at the same time have stores of their own;
 * branches of one run that are carried out at the same time see that of the latest.
 *
 * @param runName the name of the run whose turn it is; empty while a module loads
 */
function createStorageClass(runName: () => string) {
  return class AsyncLocalStorage {
    /** The innermost frames, by run. */
    readonly #frames = new Map<string, Frame>()

    run(store: unknown, callback: Callback, ...values: unknown[]): unknown {
      const name = runName()
      const frame = this.#enter(name, store)
      const leave = () => this.#leave(name, frame)
      let isAsync = false
      try {
        const result = callback(...values)
        if (!(result instanceof Promise)) return result
        isAsync = true
        // It is the first reaction to the result, so code that awaits the result continues after it.
        result.then(leave, leave)
        return result
      } finally {
        if (!isAsync) leave()
      }
    }

    exit(callback: Callback, ...values: unknown[]): unknown {
      return this.run(undefined, callback, ...values)
    }

    enterWith(store: unknown): void {
      this.#enter(runName(), store)
    }

    getStore(): unknown {
      return this.#frames.get(runName())?.store
    }

    disable(): void {
      this.#frames.clear()
    }

    static bind(callback: Callback): Callback {
      return callback
    }

    static snapshot(): Callback {
      return (callback, ...values) => (callback as Callback)(...values)
    }

    #enter(name: string, store: unknown): Frame {
      const frame = { store, before: this.#frames.get(name), hasEnded: false }
      this.#frames.delete(name)
      this.#frames.set(name, frame)
      if (this.#frames.size > maxRuns) this.#frames.delete(this.#frames.keys().next().value!)
      return frame
    }

    #leave(name: string, frame: Frame): void {
      frame.hasEnded = true
      let innermost = this.#frames.get(name)
      if (innermost !== frame) return
      while (innermost?.hasEnded) innermost = innermost.before
      if (innermost) this.#frames.set(name, innermost)
      else this.#frames.delete(name)
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
