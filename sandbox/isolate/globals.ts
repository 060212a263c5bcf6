import { apply, defineProperty, keys, NativePromise, NativeTypeError } from './primordials.ts'

const nothing = NativePromise.resolve()

/** As the web's, but that it throws what is no function by name. */
export function queueMicrotask(callback: unknown): void {
  if (typeof callback !== 'function') throw new NativeTypeError('queueMicrotask takes a function')
  const callLater = async () => {
    await nothing
    apply(callback, undefined, [])
  }
  void callLater()
}

/** Defines globals that bot code may replace, and does not list. */
export function defineGlobals(globals: Record<string, unknown>): void {
  for (const name of keys(globals)) {
    const value = globals[name]
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  }
}
