/** Timers as Node has them, for bundles that require its modules: objects, and not the numbers of the web. */

import { defineGlobals } from './globals.ts'
import { invalidType } from './node-errors.ts'

type Handler = (...values: unknown[]) => unknown

/** The timers of the web. */
interface Numbers {
  set(handler: Handler, milliseconds?: number, ...values: unknown[]): number
  repeat(handler: Handler, milliseconds?: number, ...values: unknown[]): number
  clear(timer: unknown): void
}

const promisified = Symbol.for('nodejs.util.promisify.custom')

class Timeout {
  readonly #set: () => number
  readonly #clear: Numbers['clear']
  #number: number
  #isCleared = false
  #isReferenced = true

  constructor(set: () => number, clear: Numbers['clear']) {
    this.#set = set
    this.#clear = clear
    this.#number = set()
  }

  /** An event waits for none of its timers, so that this is only remembered. */
  ref(): this {
    this.#isReferenced = true
    return this
  }

  unref(): this {
    this.#isReferenced = false
    return this
  }

  hasRef(): boolean {
    return this.#isReferenced
  }

  /** Begins the delay anew, also after the handler has run. */
  refresh(): this {
    if (this.#isCleared) return this
    this.#clear(this.#number)
    this.#number = this.#set()
    return this
  }

  close(): this {
    this.#isCleared = true
    this.#clear(this.#number)
    return this
  }

  [Symbol.toPrimitive](): number {
    return this.#number
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

class Immediate {
  readonly #timeout: Timeout

  constructor(timeout: Timeout) {
    this.#timeout = timeout
  }

  ref(): this {
    this.#timeout.ref()
    return this
  }

  unref(): this {
    this.#timeout.unref()
    return this
  }

  hasRef(): boolean {
    return this.#timeout.hasRef()
  }

  [Symbol.dispose](): void {
    this.#timeout.close()
  }
}

export interface TimerOptions {
  signal?: AbortSignal
}

/** Resolves to the value after the delay; rejects when the signal aborts. */
export function wait(milliseconds?: number, value?: unknown, { signal }: TimerOptions = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      const options = { cause: signal?.reason as unknown }
      const error = new Error('The operation was aborted', options)
      reject(Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' }))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve(value)
    }, milliseconds)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}

export const waitForImmediate = (value?: unknown, options?: TimerOptions): Promise<unknown> => wait(0, value, options)

function check(handler: unknown): void {
  if (typeof handler !== 'function') throw invalidType('callback', 'of type function', handler)
}

/** Defines the globals. */
export function installTimers(): void {
  const numbers = { set: setTimeout, repeat: setInterval, clear: clearTimeout } as unknown as Numbers
  const begin = (kind: 'set' | 'repeat', handler: Handler, ...given: [number?, ...unknown[]]) => {
    check(handler)
    // Handlers of functions clear `this`.
    const call = (...values: unknown[]) => Reflect.apply(handler, timer, values)
    const timer: Timeout = new Timeout(() => numbers[kind](call, ...given), numbers.clear)
    return timer
  }
  const clear = (timer: unknown) => (timer instanceof Timeout ? void timer.close() : numbers.clear(timer))
  const timeout = (...given: Parameters<Numbers['set']>) => begin('set', ...given)
  const immediate = (handler: Handler, ...values: unknown[]) => {
    check(handler)
    const call = (...given: unknown[]) => Reflect.apply(handler, made, given)
    const made: Immediate = new Immediate(begin('set', call, 0, ...values))
    return made
  }
  Object.defineProperty(timeout, promisified, { value: wait })
  Object.defineProperty(immediate, promisified, { value: waitForImmediate })
  defineGlobals({
    setTimeout: timeout,
    setInterval: (...given: Parameters<Numbers['repeat']>) => begin('repeat', ...given),
    setImmediate: immediate,
    clearTimeout: clear,
    clearInterval: (timer: unknown) => clear(timer),
    clearImmediate: (timer: unknown) => (timer instanceof Immediate ? timer[Symbol.dispose]() : undefined),
  })
}
