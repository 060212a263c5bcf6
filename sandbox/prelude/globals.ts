/** Defines globals as the built-in ones are: they can be replaced, and are not enumerable. */
export function defineGlobals(globals: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  }
}
