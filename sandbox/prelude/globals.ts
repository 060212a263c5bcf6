/** Defines globals like the built-in ones: writable, and not enumerable. */
export function defineGlobals(globals: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(globals)) {
    // The bundler renames classes that have the name of a global.
    if (typeof value === 'function' && value.name !== name) Object.defineProperty(value, 'name', { value: name })
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  }
}

/** The globals of these names, without those of groups that the bundle does not mention. */
export function globalsNamed(names: readonly string[]): Record<string, unknown> {
  const globals = globalThis as unknown as Record<string, unknown>
  return Object.fromEntries(names.flatMap((name) => (name in globals ? [[name, globals[name]]] : [])))
}
