import { DOMException } from './exceptions.ts'
import { toOptions } from './options.ts'
import { toDomString } from './text.ts'

export interface EventOptions {
  bubbles?: unknown
  cancelable?: unknown
  composed?: unknown
}

export type EventCallback = ((event: Event) => unknown) | { handleEvent(event: Event): unknown }

interface ListenerOptions {
  capture?: unknown
  once?: unknown
  passive?: unknown
  signal?: Pick<EventTarget, 'addEventListener'> & { aborted: boolean }
}

interface Listener {
  callback: EventCallback
  capture: boolean
  once: boolean
  passive: boolean
  removed: boolean
}

/** Operations on the private state of an event, for targets only. */
interface Dispatching {
  begin(event: Event, target: EventTarget): void
  isStopped(event: Event): boolean
  isStoppedAtOnce(event: Event): boolean
  call(event: Event, target: EventTarget, listener: Listener): void
  end(event: Event): void
}

let dispatching: Dispatching

const phases = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 }

/** The web's `Event`. */
export class Event {
  #type: string
  #bubbles: boolean
  #cancelable: boolean
  readonly #composed: boolean
  readonly #timeStamp = performance.now()
  #target: EventTarget | null = null
  #isDispatched = false
  #isPassive = false
  #propagation: 'goes on' | 'stopped' | 'stopped at once' = 'goes on'
  #isCanceled = false

  constructor(type: unknown, options?: EventOptions | null) {
    if (arguments.length === 0) throw new TypeError('An Event requires a type')
    const { bubbles, cancelable, composed } = toOptions(options) as EventOptions
    this.#type = toDomString(type)
    this.#bubbles = Boolean(bubbles)
    this.#cancelable = Boolean(cancelable)
    this.#composed = Boolean(composed)
  }

  static {
    for (const [name, value] of Object.entries(phases)) {
      Object.defineProperty(this, name, { value, enumerable: true })
      Object.defineProperty(this.prototype, name, { value, enumerable: true })
    }
    dispatching = {
      begin(event, target) {
        if (event.#isDispatched) throw new DOMException('The event is being dispatched', 'InvalidStateError')
        event.#target = target
        event.#isDispatched = true
      },
      isStopped: (event) => event.#propagation !== 'goes on',
      isStoppedAtOnce: (event) => event.#propagation === 'stopped at once',
      call(event, target, { callback, passive, removed }) {
        if (removed) return
        event.#isPassive = passive
        try {
          if (typeof callback === 'function') Reflect.apply(callback, target, [event])
          else callback.handleEvent(event)
        } catch (error) {
          // oxlint-disable-next-line no-console -- the bot's own log: a listener that fails keeps nothing from the others.
          console.error(error)
        }
        event.#isPassive = false
      },
      end(event) {
        event.#isDispatched = false
        event.#propagation = 'goes on'
      },
    }
  }

  get type(): string {
    return this.#type
  }

  get target(): EventTarget | null {
    return this.#target
  }

  get srcElement(): EventTarget | null {
    return this.#target
  }

  get currentTarget(): EventTarget | null {
    return this.#isDispatched ? this.#target : null
  }

  get eventPhase(): number {
    return this.#isDispatched ? phases.AT_TARGET : phases.NONE
  }

  get bubbles(): boolean {
    return this.#bubbles
  }

  get cancelable(): boolean {
    return this.#cancelable
  }

  get composed(): boolean {
    return this.#composed
  }

  get timeStamp(): number {
    return this.#timeStamp
  }

  get isTrusted(): boolean {
    return false
  }

  get defaultPrevented(): boolean {
    return this.#isCanceled
  }

  get returnValue(): boolean {
    return !this.#isCanceled
  }

  set returnValue(value: unknown) {
    if (!value) this.preventDefault()
  }

  get cancelBubble(): boolean {
    return this.#propagation !== 'goes on'
  }

  set cancelBubble(value: unknown) {
    if (value) this.stopPropagation()
  }

  composedPath(): EventTarget[] {
    return this.#isDispatched ? [this.#target!] : []
  }

  preventDefault(): void {
    if (this.#cancelable && !this.#isPassive) this.#isCanceled = true
  }

  stopPropagation(): void {
    if (this.#propagation === 'goes on') this.#propagation = 'stopped'
  }

  stopImmediatePropagation(): void {
    this.#propagation = 'stopped at once'
  }

  initEvent(type: unknown, bubbles: unknown = false, cancelable: unknown = false): void {
    if (arguments.length === 0) throw new TypeError('An Event requires a type')
    if (this.#isDispatched) return
    this.#type = toDomString(type)
    this.#bubbles = Boolean(bubbles)
    this.#cancelable = Boolean(cancelable)
    this.#isCanceled = false
    this.#propagation = 'goes on'
    this.#target = null
  }

  get [Symbol.toStringTag](): string {
    return 'Event'
  }
}

/** The number of listeners of a type. A function, because bot code can replace methods but not this. */
export let countListeners: (target: EventTarget, type: string) => number

/** The web's `EventTarget`. Targets form no tree: an event is dispatched at its target only. */
export class EventTarget {
  readonly #listeners = new Map<string, Listener[]>()

  static {
    countListeners = (target, type) => target.#listeners.get(type)?.length ?? 0
  }

  addEventListener(type: unknown, callback: EventCallback | null | undefined, options?: unknown): void {
    if (arguments.length < 2) throw new TypeError('addEventListener requires a type and a listener')
    const { capture, once, passive, signal } = toListenerOptions(options)
    const name = toDomString(type)
    if (!isCallback(callback) || signal?.aborted) return
    const listener = {
      callback,
      capture: Boolean(capture),
      once: Boolean(once),
      passive: Boolean(passive),
      removed: false,
    }
    const others = this.#listeners.get(name) ?? []
    if (others.some((one) => isSame(one, listener))) return
    this.#listeners.set(name, [...others, listener])
    const remove = () => this.removeEventListener(name, callback, listener.capture)
    signal?.addEventListener('abort', remove, { once: true })
  }

  removeEventListener(type: unknown, callback: EventCallback | null | undefined, options?: unknown): void {
    if (arguments.length < 2) throw new TypeError('removeEventListener requires a type and a listener')
    const capture = Boolean(toListenerOptions(options).capture)
    if (isCallback(callback)) this.#remove(toDomString(type), { callback, capture })
  }

  dispatchEvent(event: Event): boolean {
    if (!(event instanceof Event)) throw new TypeError('dispatchEvent requires an Event')
    dispatching.begin(event, this)
    for (const isCapturing of [true, false]) {
      if (dispatching.isStopped(event)) break
      // Listeners that are added during the dispatch are not called.
      for (const listener of this.#listeners.get(event.type) ?? []) {
        // Listeners that are not called stay, also those that are called once.
        if (dispatching.isStoppedAtOnce(event)) break
        if (listener.capture !== isCapturing) continue
        if (listener.once && !listener.removed) this.#remove(event.type, listener, false)
        dispatching.call(event, this, listener)
      }
    }
    dispatching.end(event)
    return !event.defaultPrevented
  }

  /** @param isOver whether a dispatch in flight skips the listener too */
  #remove(type: string, wanted: Pick<Listener, 'callback' | 'capture'>, isOver = true): void {
    const all = this.#listeners.get(type) ?? []
    const removed = all.find((one) => isSame(one, wanted))
    if (removed === undefined) return
    removed.removed = isOver
    const others = all.filter((one) => one !== removed)
    if (others.length > 0) this.#listeners.set(type, others)
    else this.#listeners.delete(type)
  }

  get [Symbol.toStringTag](): string {
    return 'EventTarget'
  }
}

function isSame(one: Pick<Listener, 'callback' | 'capture'>, other: Pick<Listener, 'callback' | 'capture'>): boolean {
  return one.callback === other.callback && one.capture === other.capture
}

/** @throws TypeError for a value that cannot be a listener; null means no listener */
function isCallback(callback: unknown): callback is EventCallback {
  if (callback === null || callback === undefined) return false
  if (typeof callback === 'function' || typeof callback === 'object') return true
  throw new TypeError('A listener must be a function, or an object with handleEvent')
}

function toListenerOptions(options: unknown): ListenerOptions {
  if (typeof options === 'boolean') return { capture: options }
  const given = toOptions(options) as ListenerOptions
  const { signal } = given
  const isSignal = typeof signal === 'object' && signal !== null && 'aborted' in signal
  if (signal !== undefined && !isSignal) throw new TypeError('The option signal must be an AbortSignal')
  return given
}
