type CloneOptions = NonNullable<Parameters<typeof structuredClone>[1]>
type Handler = ((event: Event) => unknown) | null

const construct = Symbol('construct')

/** Makes the classes of channels. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- the classes are the type.
export function createChannels(OwnEvent: typeof MessageEvent) {
  /** A target of messages with the handlers `onmessage` and `onmessageerror`. */
  class MessageTarget extends EventTarget {
    readonly #handlers = new Map<string, Handler>()

    get onmessage(): Handler {
      return this.#handlers.get('message') ?? null
    }

    set onmessage(handler: unknown) {
      this.#handle('message', handler)
    }

    get onmessageerror(): Handler {
      return this.#handlers.get('messageerror') ?? null
    }

    set onmessageerror(handler: unknown) {
      this.#handle('messageerror', handler)
    }

    #handle(type: string, handler: unknown): void {
      const earlier = this.#handlers.get(type)
      if (earlier) this.removeEventListener(type, earlier)
      const next = typeof handler === 'function' ? (handler as Handler) : null
      this.#handlers.set(type, next)
      if (next) this.addEventListener(type, next)
    }
  }

  /** Two ports, each the other's peer. */
  let pairOfPorts: () => [MessagePort, MessagePort]

  /**
   * The web's `MessagePort`. A message is a timer of the run that posts it, and ends with that run: it is never handled
   * under the name of another one.
   */
  class MessagePort extends MessageTarget {
    #peer: MessagePort | undefined
    /** Messages before `start`. */
    #waiting: unknown[] = []
    #isStarted = false

    /** Only channels construct ports. */
    constructor(key?: symbol) {
      super()
      if (key !== construct) throw new TypeError('Illegal constructor')
    }

    static {
      pairOfPorts = () => {
        const [one, other] = [new MessagePort(construct), new MessagePort(construct)]
        one.#peer = other
        other.#peer = one
        return [one, other]
      }
    }

    postMessage(value: unknown, options?: CloneOptions | ArrayBuffer[]): void {
      if (arguments.length === 0) throw new TypeError('postMessage requires a message')
      const message: unknown = structuredClone(value, toCloneOptions(options))
      const peer = this.#peer
      if (!peer) return
      if (peer.#isStarted) peer.#deliver(message)
      else peer.#waiting.push(message)
    }

    /** A listener starts a port, as in Node. */
    override addEventListener(...values: Parameters<EventTarget['addEventListener']>): void {
      super.addEventListener(...values)
      if (values[0] === 'message') this.start()
    }

    start(): void {
      if (this.#isStarted) return
      this.#isStarted = true
      for (const message of this.#waiting) this.#deliver(message)
      this.#waiting = []
    }

    close(): void {
      const peer = this.#peer
      if (!peer) return
      for (const port of [this, peer]) {
        port.#peer = undefined
        setTimeout(() => port.dispatchEvent(new Event('close')), 0)
      }
    }

    /** Ports keep no run alive. */
    ref(): void {}

    unref(): void {}

    hasRef(): boolean {
      return false
    }

    get [Symbol.toStringTag](): string {
      return 'MessagePort'
    }

    #deliver(data: unknown): void {
      setTimeout(() => this.dispatchEvent(new OwnEvent('message', { data })), 0)
    }
  }

  /** The web's `MessageChannel`, between parts of the code of one isolate. */
  class MessageChannel {
    readonly #ports = pairOfPorts()

    get port1(): MessagePort {
      return this.#ports[0]
    }

    get port2(): MessagePort {
      return this.#ports[1]
    }

    get [Symbol.toStringTag](): string {
      return 'MessageChannel'
    }
  }

  const channels = new Map<string, Set<BroadcastChannel>>()

  /** The web's `BroadcastChannel`, between parts of the code of one isolate. */
  class BroadcastChannel extends MessageTarget {
    readonly #name: string
    #isClosed = false

    constructor(name: unknown) {
      if (arguments.length === 0) throw new TypeError('BroadcastChannel requires a name')
      super()
      this.#name = String(name)
      const sharing = channels.get(this.#name) ?? new Set()
      channels.set(this.#name, sharing.add(this))
    }

    get name(): string {
      return this.#name
    }

    postMessage(value: unknown): void {
      if (arguments.length === 0) throw new TypeError('postMessage requires a message')
      if (this.#isClosed) throw new DOMException('The channel is closed', 'InvalidStateError')
      const message: unknown = structuredClone(value)
      const receivers = [...channels.get(this.#name)!].filter((channel) => channel !== this)
      if (receivers.length === 0) return
      setTimeout(() => {
        for (const receiver of receivers) {
          if (!receiver.#isClosed) receiver.dispatchEvent(new OwnEvent('message', { data: structuredClone(message) }))
        }
      }, 0)
    }

    close(): void {
      this.#isClosed = true
      const sharing = channels.get(this.#name)
      sharing?.delete(this)
      if (sharing?.size === 0) channels.delete(this.#name)
    }

    ref(): this {
      return this
    }

    unref(): this {
      return this
    }

    get [Symbol.toStringTag](): string {
      return 'BroadcastChannel'
    }
  }

  return { MessagePort, MessageChannel, BroadcastChannel }
}

function toCloneOptions(options: CloneOptions | ArrayBuffer[] | undefined): CloneOptions {
  return Array.isArray(options) ? { transfer: options } : (options ?? {})
}
