import { apply, defineProperty, keys, NativePromise, NativeTypeError } from './primordials.ts'

const nothing = NativePromise.resolve()

/** Like the web's `queueMicrotask`, except for the message of the TypeError for a callback that is no function. */
export function queueMicrotask(callback: unknown): void {
  if (typeof callback !== 'function') throw new NativeTypeError('The argument of queueMicrotask must be a function')
  const callLater = async () => {
    await nothing
    apply(callback, undefined, [])
  }
  void callLater()
}

/** Defines globals that bot code can replace and that are not enumerable. */
export function defineGlobals(globals: Record<string, unknown>): void {
  for (const name of keys(globals)) {
    const value = globals[name]
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  }
}
