type Callback = (...values: unknown[]) => unknown

/**
 * Node's `AsyncLocalStorage`, as far as an engine without asynchronous contexts can have it: the store is that of the
 * running call, and lost after its first `await`.
 */
class AsyncLocalStorage {
  #store: unknown
  #isEntered = false

  run(store: unknown, callback: Callback, ...values: unknown[]): unknown {
    const before = [this.#store, this.#isEntered] as const
    this.enterWith(store)
    try {
      return callback(...values)
    } finally {
      ;[this.#store, this.#isEntered] = before
    }
  }

  exit(callback: Callback, ...values: unknown[]): unknown {
    return this.run(undefined, callback, ...values)
  }

  enterWith(store: unknown): void {
    this.#store = store
    this.#isEntered = true
  }

  getStore(): unknown {
    return this.#isEntered ? this.#store : undefined
  }

  disable(): void {
    this.#isEntered = false
    this.#store = undefined
  }

  static bind(callback: Callback): Callback {
    return callback
  }

  static snapshot(): Callback {
    return (callback, ...values) => (callback as Callback)(...values)
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

export const asyncHooks = {
  AsyncLocalStorage,
  AsyncResource,
  createHook: () => ({ enable() {}, disable() {} }),
  executionAsyncId: () => 0,
  executionAsyncResource: () => ({}),
  triggerAsyncId: () => 0,
}
