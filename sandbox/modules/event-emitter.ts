import { EventEmitter as Given } from 'events'
import { codedError, checkNumber, invalidType } from '../prelude/node-errors.ts'

type Name = string | symbol

interface Options {
  captureRejections?: unknown
}
type Listener = ((...values: unknown[]) => unknown) & { listener?: unknown }

/** An emitter, or an object of a library that has only some of its properties. */
interface Emitter {
  _events?: Record<Name, Listener | Listener[] | undefined>
  emit(name: Name, ...values: unknown[]): boolean
  [captures]?: boolean
  [rejection]?: (error: unknown, name: Name, ...values: unknown[]) => void
}

export const errorMonitor = Symbol('events.errorMonitor')
const rejection = Symbol.for('nodejs.rejection')
const captures = Symbol('kCapture')

/** The constructor, which libraries also call for objects of their own. */
function EventEmitter(this: Emitter, options?: Options): void {
  EventEmitter.init.call(this, options)
}
EventEmitter.init = initialize

const { init } = Given as unknown as { init: (this: object) => void }

function initialize(this: Emitter, options?: Options): void {
  init.call(this)
  const given = options?.captureRejections
  if (given === undefined) return
  if (typeof given !== 'boolean') throw invalidType('options.captureRejections', 'of type boolean', given)
  Object.defineProperty(this, captures, { value: given, writable: true, configurable: true })
}

/** The package's functions, whose listeners are called as in Node, with Node's errors and the option `captureRejections`. */
export function createEventEmitter(): typeof Given {
  const prototype = Given.prototype as unknown as Record<PropertyKey, unknown>
  EventEmitter.prototype = prototype
  for (const [key, value] of Object.entries({ ...methodsOf(prototype), constructor: EventEmitter })) {
    Object.defineProperty(prototype, key, {
      value,
      writable: true,
      configurable: true,
      enumerable: key !== 'constructor',
    })
  }
  prototype[captures] = false
  Object.defineProperty(prototype, captures, { enumerable: false })
  Object.defineProperties(EventEmitter, {
    defaultMaxListeners: {
      get: () => Given.defaultMaxListeners,
      set(count: unknown) {
        checkNumber(count, 'defaultMaxListeners', 0)
        Given.defaultMaxListeners = count as number
      },
      enumerable: true,
    },
    captureRejections: {
      get: () => prototype[captures],
      set(value: unknown) {
        if (typeof value !== 'boolean') throw invalidType('EventEmitter.captureRejections', 'of type boolean', value)
        prototype[captures] = value
      },
      enumerable: true,
    },
    EventEmitter: { value: EventEmitter, writable: true, configurable: true, enumerable: true },
  })
  return EventEmitter as unknown as typeof Given
}

function methodsOf(given: Record<PropertyKey, unknown>): Record<string, unknown> {
  const methods: Record<string, unknown> = { emit, listenerCount, setMaxListeners }
  for (const name of ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener', 'off', 'removeListener']) {
    const method = given[name] as (this: Emitter, name: Name, listener: Listener) => unknown
    const checked = function (this: Emitter, type: Name, listener: Listener): unknown {
      if (typeof listener !== 'function') throw invalidType('listener', 'of type function', listener)
      return method.call(this, type, listener)
    }
    methods[name] = Object.defineProperty(checked, 'name', { value: name })
  }
  // Each pair is one function.
  return { ...methods, addListener: methods['on'], off: methods['removeListener'] }
}

function setMaxListeners(this: { _maxListeners?: number }, count: unknown): unknown {
  checkNumber(count, 'setMaxListeners', 0)
  return Object.assign(this, { _maxListeners: count })
}

/** @param listener counts only this one */
function listenerCount(this: Emitter, name: Name, listener?: unknown): number {
  // oxlint-disable-next-line no-underscore-dangle -- The name that the package gives it.
  const found = this._events?.[name]
  const all = found === undefined ? [] : [found].flat()
  if (listener === undefined || listener === null) return all.length
  return all.filter((one) => one === listener || one.listener === listener).length
}

function emit(this: Emitter, name: Name, ...values: unknown[]): boolean {
  // oxlint-disable-next-line no-underscore-dangle -- The name that the package gives it.
  const events = this._events
  if (name === 'error') {
    if (events?.[errorMonitor] !== undefined) this.emit(errorMonitor, ...values)
    if (events?.['error'] === undefined) throw unhandled(values[0])
  }
  const listeners = events?.[name]
  if (listeners === undefined) return false
  if (typeof listeners === 'function') call(this, listeners, name, values)
  else for (const listener of listeners.slice()) call(this, listener, name, values)
  return true
}

function call(emitter: Emitter, listener: Listener, name: Name, values: unknown[]): void {
  const result = Reflect.apply(listener, emitter, values)
  if (result !== undefined && result !== null && emitter[captures]) captureRejection(emitter, result, name, values)
}

/** Node takes any object with a function `then` for a promise. */
function captureRejection(emitter: Emitter, result: unknown, name: Name, values: unknown[]): void {
  try {
    const { then } = result as { then?: unknown }
    if (typeof then !== 'function') return
    const fail = (error: unknown) => process.nextTick(() => emitRejection(emitter, error, name, values))
    Reflect.apply(then, result, [undefined, fail])
  } catch (error) {
    emitter.emit('error', error)
  }
}

function emitRejection(emitter: Emitter, error: unknown, name: Name, values: unknown[]): void {
  if (typeof emitter[rejection] === 'function') return emitter[rejection](error, name, ...values)
  // A listener of errors that fails as well is not called again.
  const before = emitter[captures] ?? false
  try {
    emitter[captures] = false
    emitter.emit('error', error)
  } finally {
    emitter[captures] = before
  }
}

function unhandled(error: unknown): unknown {
  if (error instanceof Error) return error
  const message = (error as { message?: unknown } | undefined)?.message
  const shown = typeof error === 'string' ? `'${error}'` : typeof message === 'string' ? message : String(error)
  return Object.assign(codedError('ERR_UNHANDLED_ERROR', `Unhandled error. (${shown})`), { context: error })
}

/** Node's `events.setMaxListeners`: of all emitters, or of these. */
export function setAllMaxListeners(count: number, ...emitters: unknown[]): void {
  checkNumber(count, 'setMaxListeners', 0)
  if (emitters.length === 0) Given.defaultMaxListeners = count
  for (const emitter of emitters) {
    const { setMaxListeners: set } = emitter as { setMaxListeners?: unknown }
    if (typeof set === 'function') Reflect.apply(set, emitter, [count])
    else if (emitter instanceof EventTarget) targetLimits.set(emitter, count)
    else throw invalidType('eventTargets', 'an instance of EventEmitter or EventTarget', emitter)
  }
}

const targetLimits = new WeakMap<object, number>()

export function maxListenersOf(emitter: unknown): number {
  const { getMaxListeners } = emitter as { getMaxListeners?: unknown }
  if (typeof getMaxListeners === 'function') return Reflect.apply(getMaxListeners, emitter, []) as number
  const usual = emitter instanceof AbortSignal ? 0 : Given.defaultMaxListeners
  if (emitter instanceof EventTarget) return targetLimits.get(emitter) ?? usual
  throw invalidType('emitter', 'an instance of EventEmitter or EventTarget', emitter)
}
