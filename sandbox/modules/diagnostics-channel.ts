import { invalidType } from '../prelude/node-errors.ts'

type Callback = (...values: unknown[]) => unknown
type Context = Record<string, unknown>

/** An `AsyncLocalStorage`. */
interface Store {
  run(value: unknown, callback: () => unknown): unknown
}

/** A channel of Node's `diagnostics_channel`. Only code of the bundle can subscribe to one. */
class Channel {
  readonly name: string | symbol
  #subscribers: readonly Callback[] = []
  readonly #stores = new Map<Store, Callback | undefined>()

  constructor(name: string | symbol) {
    this.name = name
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.length > 0 || this.#stores.size > 0
  }

  subscribe(callback: Callback): void {
    checkFunction('subscription', callback)
    this.#subscribers = [...this.#subscribers, callback]
  }

  unsubscribe(callback: Callback): boolean {
    const index = this.#subscribers.indexOf(callback)
    if (index !== -1) this.#subscribers = this.#subscribers.toSpliced(index, 1)
    return index !== -1
  }

  publish(message: unknown): void {
    for (const subscriber of this.#subscribers) keepGoing(() => subscriber(message, this.name))
  }

  bindStore(store: Store, transform?: Callback): void {
    this.#stores.set(store, transform)
  }

  unbindStore(store: Store): boolean {
    return this.#stores.delete(store)
  }

  runStores(message: unknown, callback: Callback, self?: unknown, ...values: unknown[]): unknown {
    let run = () => {
      this.publish(message)
      return Reflect.apply(callback, self, values)
    }
    for (const [store, transform] of this.#stores) {
      const next = run
      run = () => {
        const given = keepGoing(() => ({ value: transform ? transform(message) : message }))
        return given ? store.run(given.value, next) : next()
      }
    }
    return run()
  }
}

/** A subscriber that fails keeps nothing from the traced code. */
function keepGoing<Result>(call: () => Result): Result | undefined {
  try {
    return call()
  } catch (error) {
    // oxlint-disable-next-line no-console -- the bot's own log.
    console.error(error)
    return undefined
  }
}

function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidType(name, 'of type function', value)
}

const channels = new Map<string | symbol, Channel>()

function channel(name: string | symbol): Channel {
  if (typeof name !== 'string' && typeof name !== 'symbol') {
    throw invalidType('channel', 'of type string or symbol', name)
  }
  const found = channels.get(name) ?? new Channel(name)
  channels.set(name, found)
  return found
}

const traced = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const
type Traced = Record<(typeof traced)[number], Channel>
type Handlers = Partial<Record<(typeof traced)[number], Callback>>

/** The five channels of an operation. */
class TracingChannel {
  declare start: Channel
  declare end: Channel
  declare asyncStart: Channel
  declare asyncEnd: Channel
  declare error: Channel

  constructor(given: string | Traced) {
    if (typeof given !== 'string' && (typeof given !== 'object' || given === null)) {
      throw invalidType('nameOrChannels', 'of type string or an instance of TracingChannel or Object', given)
    }
    for (const event of traced) {
      const own: unknown = typeof given === 'string' ? channel(`tracing:${given}:${event}`) : given[event]
      if (!(own instanceof Channel)) {
        throw invalidType(`nameOrChannels.${event}`, 'an instance of Channel', own)
      }
      this[event] = own
    }
  }

  get hasSubscribers(): boolean {
    return traced.some((event) => this[event].hasSubscribers)
  }

  subscribe(handlers: Handlers): void {
    for (const event of traced) if (handlers[event]) this[event].subscribe(handlers[event])
  }

  unsubscribe(handlers: Handlers): boolean {
    const removed = traced.map((event) => !handlers[event] || this[event].unsubscribe(handlers[event]))
    return !removed.includes(false)
  }

  traceSync(callback: Callback, context: Context = {}, self?: unknown, ...values: unknown[]): unknown {
    if (!this.hasSubscribers) return Reflect.apply(callback, self, values)
    return this.#run(context, () => (context['result'] = Reflect.apply(callback, self, values)))
  }

  tracePromise(callback: Callback, context: Context = {}, self?: unknown, ...values: unknown[]): unknown {
    if (!this.hasSubscribers) return Reflect.apply(callback, self, values)
    const settle = () => {
      this.asyncStart.publish(context)
      this.asyncEnd.publish(context)
    }
    const resolve = (result: unknown) => {
      context['result'] = result
      settle()
      return result
    }
    const reject = (error: unknown) => {
      this.#fail(context, error)
      settle()
      throw error
    }
    return this.#run(context, () => {
      const result = Reflect.apply(callback, self, values)
      return (result instanceof Promise ? result : Promise.resolve(result)).then(resolve, reject)
    })
  }

  /** @param at the position of the callback among the values */
  traceCallback(traces: Callback, at = -1, context: Context = {}, self?: unknown, ...values: unknown[]): unknown {
    if (!this.hasSubscribers) return Reflect.apply(traces, self, values)
    const callback = values.at(at) as Callback
    checkFunction('callback', callback)
    const { asyncStart, asyncEnd } = this
    const fail = (error: unknown) => this.#fail(context, error)
    const wrapped = function (this: unknown, ...given: unknown[]) {
      if (given[0]) fail(given[0])
      else context['result'] = given[1]
      return asyncStart.runStores(context, () => {
        try {
          return Reflect.apply(callback, this, given)
        } finally {
          asyncEnd.publish(context)
        }
      })
    }
    values.splice(at, 1, wrapped)
    return this.#run(context, () => Reflect.apply(traces, self, values))
  }

  #run(context: Context, work: () => unknown): unknown {
    return this.start.runStores(context, () => {
      try {
        return work()
      } catch (error) {
        this.#fail(context, error)
        throw error
      } finally {
        this.end.publish(context)
      }
    })
  }

  #fail(context: Context, error: unknown): void {
    context['error'] = error
    this.error.publish(context)
  }
}

export const diagnosticsChannel = {
  Channel,
  channel,
  tracingChannel: (given: string | Traced) => new TracingChannel(given),
  hasSubscribers: (name: string | symbol) => channels.get(name)?.hasSubscribers ?? false,
  subscribe: (name: string | symbol, callback: Callback) => channel(name).subscribe(callback),
  unsubscribe: (name: string | symbol, callback: Callback) => channel(name).unsubscribe(callback),
}
