/** Defines globals as the built-in ones are: they can be replaced, and are not enumerable. */
export function defineGlobals(globals: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(globals)) {
    // Bundled, classes that are called as a global is have other names.
    if (typeof value === 'function' && value.name !== name) Object.defineProperty(value, 'name', { value: name })
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  }
}
