type Bubbling = NonNullable<ConstructorParameters<typeof Event>[1]>

interface MessageEventOptions extends Bubbling {
  data?: unknown
  origin?: unknown
  lastEventId?: unknown
  source?: object | null
  ports?: Iterable<object>
}

interface CloseEventOptions extends Bubbling {
  wasClean?: unknown
  code?: unknown
  reason?: unknown
}

/**
 * Makes the classes of events of messages. Functions make the classes of this group, because code seldom asks for
 * them.
 */
// oxlint-disable-next-line typescript/explicit-function-return-type -- the classes are the type.
export function createMessageEvents() {
  /** The web's `MessageEvent`. */
  class MessageEvent extends Event {
    readonly #data: unknown
    readonly #origin: string
    readonly #lastEventId: string
    readonly #source: object | null
    readonly #ports: readonly object[]

    constructor(type: string, options?: MessageEventOptions | null) {
      super(type, options ?? undefined)
      const { data = null, origin = '', lastEventId = '', source = null, ports = [] } = options ?? {}
      this.#data = data
      this.#origin = String(origin)
      this.#lastEventId = String(lastEventId)
      this.#source = source
      this.#ports = Object.freeze(Array.from(ports))
    }

    get data(): unknown {
      return this.#data
    }

    get origin(): string {
      return this.#origin
    }

    get lastEventId(): string {
      return this.#lastEventId
    }

    get source(): object | null {
      return this.#source
    }

    get ports(): readonly object[] {
      return this.#ports
    }

    get [Symbol.toStringTag](): string {
      return 'MessageEvent'
    }
  }

  /** The web's `CloseEvent`. */
  class CloseEvent extends Event {
    readonly #wasClean: boolean
    readonly #code: number
    readonly #reason: string

    constructor(type: string, options?: CloseEventOptions | null) {
      super(type, options ?? undefined)
      const { wasClean = false, code = 0, reason = '' } = options ?? {}
      this.#wasClean = Boolean(wasClean)
      this.#code = Number(code) & 0xff_ff
      this.#reason = String(reason)
    }

    get wasClean(): boolean {
      return this.#wasClean
    }

    get code(): number {
      return this.#code
    }

    get reason(): string {
      return this.#reason
    }

    get [Symbol.toStringTag](): string {
      return 'CloseEvent'
    }
  }

  return { MessageEvent, CloseEvent }
}
