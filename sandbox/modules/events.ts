import type { EventEmitter } from 'events'
import { codedError, invalidType } from '../prelude/node-errors.ts'
import { createEventEmitter, errorMonitor, maxListenersOf, setAllMaxListeners } from './event-emitter.ts'

type Listener = (...values: unknown[]) => void

interface Options {
  signal?: AbortSignal
  /** Events that end the iteration. */
  close?: string[]
}

/** The part of Node's `events` that the package lacks. */
export function createEvents(): object {
  const EventEmitter = createEventEmitter()
  return Object.assign(EventEmitter, {
    errorMonitor,
    captureRejectionSymbol: Symbol.for('nodejs.rejection'),
    getEventListeners: (emitter: EventEmitter, name: string) => emitter.listeners(name),
    getMaxListeners: maxListenersOf,
    setMaxListeners: setAllMaxListeners,
    listenerCount: (emitter: EventEmitter, name: string) => emitter.listenerCount(name),
    addAbortListener,
    once,
    on,
  })
}

function abortError({ reason }: AbortSignal): Error {
  const error = codedError('ABORT_ERR', 'The operation was aborted')
  return Object.defineProperties(error, {
    name: { value: 'AbortError', configurable: true, writable: true },
    cause: { value: reason as unknown, configurable: true, writable: true },
  })
}

/** Calls a function when a signal is aborted, also if it has been. */
function addAbortListener(signal: AbortSignal, callback: () => void): Disposable {
  if (!(signal instanceof AbortSignal)) throw invalidType('signal', 'an instance of AbortSignal', signal)
  if (typeof callback !== 'function') throw invalidType('listener', 'of type function', callback)
  if (signal.aborted) queueMicrotask(callback)
  else signal.addEventListener('abort', callback, { once: true })
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', callback) }
}

/** Listens to an emitter or an `EventTarget`. @returns a function that ends it */
function listen(emitter: EventEmitter | EventTarget, name: string, listener: Listener): () => void {
  if (emitter instanceof EventTarget && !('on' in emitter)) {
    emitter.addEventListener(name, listener)
    return () => emitter.removeEventListener(name, listener)
  }
  const given = emitter as EventEmitter
  given.on(name, listener)
  return () => given.removeListener(name, listener)
}

/** Listens for errors too, which an `EventTarget` does not have. */
function listenForErrors(emitter: EventEmitter | EventTarget, name: string, listener: Listener): () => void {
  const hasErrors = name !== 'error' && typeof (emitter as Partial<EventEmitter>).on === 'function'
  return hasErrors ? listen(emitter, 'error', listener) : () => {}
}

/** Resolves to the values of the next event. */
async function once(emitter: EventEmitter | EventTarget, name: string, { signal }: Options = {}): Promise<unknown[]> {
  if (signal?.aborted === true) throw abortError(signal)
  const { promise, resolve, reject } = Promise.withResolvers<unknown[]>()
  const ends = [listen(emitter, name, (...values) => resolve(values)), listenForErrors(emitter, name, reject)]
  const abort = () => reject(abortError(signal!))
  signal?.addEventListener('abort', abort)
  try {
    return await promise
  } finally {
    for (const end of ends) end()
    signal?.removeEventListener('abort', abort)
  }
}

/** Iterates over the values of all events from now on. */
function on(
  emitter: EventEmitter | EventTarget,
  name: string,
  { signal, close = [] }: Options = {},
): AsyncIterableIterator<unknown[]> {
  if (signal?.aborted === true) throw abortError(signal)
  const values: unknown[][] = []
  let isClosed = false
  let failure: { error: unknown } | undefined
  let wake: (() => void) | undefined
  const fail = (error: unknown) => {
    failure ??= { error }
    wake?.()
  }
  const end = () => {
    isClosed = true
    wake?.()
  }
  const abort = () => fail(abortError(signal!))
  const take = (...given: unknown[]) => {
    values.push(given)
    wake?.()
  }
  const ends = [
    listen(emitter, name, take),
    listenForErrors(emitter, name, fail),
    ...close.map((closing) => listen(emitter, closing, end)),
  ]
  signal?.addEventListener('abort', abort)
  return iterate()

  async function* iterate(): AsyncGenerator<unknown[]> {
    try {
      for (;;) {
        while (values.length > 0) yield values.shift()!
        if (failure !== undefined) throw failure.error
        if (isClosed) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      for (const stop of ends) stop()
      signal?.removeEventListener('abort', abort)
    }
  }
}
