type Callback = (...values: unknown[]) => unknown

/** A channel of Node's `diagnostics_channel`. Only code of the bundle can subscribe to one. */
class Channel {
  readonly name: string | symbol
  readonly #subscribers = new Set<Callback>()

  constructor(name: string | symbol) {
    this.name = name
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.size > 0
  }

  subscribe(callback: Callback): void {
    this.#subscribers.add(callback)
  }

  unsubscribe(callback: Callback): boolean {
    return this.#subscribers.delete(callback)
  }

  publish(message: unknown): void {
    for (const subscriber of this.#subscribers) subscriber(message, this.name)
  }

  runStores(message: unknown, callback: Callback, self?: unknown, ...values: unknown[]): unknown {
    this.publish(message)
    return Reflect.apply(callback, self, values)
  }

  bindStore(): void {}

  unbindStore(): void {}
}

const channels = new Map<string | symbol, Channel>()

function channel(name: string | symbol): Channel {
  const found = channels.get(name) ?? new Channel(name)
  channels.set(name, found)
  return found
}

const traced = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

/** The functions of a tracing channel only call the operation. */
const traces = {
  traceSync: call,
  tracePromise: call,
  traceCallback: (callback: Callback, _at?: unknown, _context?: unknown, self?: unknown, ...values: unknown[]) =>
    Reflect.apply(callback, self, values),
}

function call(callback: Callback, _context?: unknown, self?: unknown, ...values: unknown[]): unknown {
  return Reflect.apply(callback, self, values)
}

/** The five channels of an operation. */
function tracingChannel(name: string): object {
  const own = Object.fromEntries(traced.map((event) => [event, channel(`tracing:${name}:${event}`)]))
  return { ...own, hasSubscribers: false, subscribe() {}, unsubscribe: () => false, ...traces }
}

export const diagnosticsChannel = {
  Channel,
  channel,
  tracingChannel,
  hasSubscribers: (name: string | symbol) => channel(name).hasSubscribers,
  subscribe: (name: string | symbol, callback: Callback) => channel(name).subscribe(callback),
  unsubscribe: (name: string | symbol, callback: Callback) => channel(name).unsubscribe(callback),
}
