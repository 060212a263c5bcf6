import { defineGlobals } from './globals.ts'

/**
 * Defines globals that `make` makes together when code first asks for one of them; from then on they are as those of
 * `defineGlobals`.
 */
export function defineLazily(names: readonly string[], make: () => Record<string, unknown>): void {
  for (const name of names) {
    Object.defineProperty(globalThis, name, {
      get() {
        const made = make()
        defineGlobals(Object.fromEntries(names.filter(isLazy).map((each) => [each, made[each]])))
        return made[name]
      },
      set(value: unknown) {
        Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
      },
      configurable: true,
      enumerable: false,
    })
  }
}

/** Whether a global has neither been made nor replaced. */
function isLazy(name: string): boolean {
  return Object.getOwnPropertyDescriptor(globalThis, name)?.get !== undefined
}
