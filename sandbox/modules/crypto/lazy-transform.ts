import type { Transform } from 'stream'

/** Names by which code first uses an object as a stream. */
const names: (string | symbol)[] = [
  ...'pipe write end read destroy setEncoding resume pause unpipe push destroyed readable writable'.split(' '),
  ...'on once addListener prependListener removeListener off emit listenerCount'.split(' '),
  ...'_readableState _writableState readableEnded writableEnded'.split(' '),
  Symbol.asyncIterator,
]

const states = ['_readableState', '_writableState']

type Prototype = Record<PropertyKey, unknown>

/**
 * Makes objects of a class transformations, as those of Node's `crypto` are, once one is used as such. Until then the module
 * `stream` is not evaluated: few programs use a hash as a stream. The class has `_transform` and `_flush`.
 */
export function transformLazily({ prototype }: { prototype: object }): void {
  const own = new Set(Reflect.ownKeys(prototype))
  const added = names.filter((name) => !own.has(name))
  for (const name of added) {
    Object.defineProperty(prototype, name, {
      get(this: Prototype) {
        become()
        return this[name]
      },
      configurable: true,
    })
  }

  function become(): void {
    // oxlint-disable-next-line typescript/no-require-imports -- An import would evaluate the module at once.
    const { Transform } = require('stream') as {
      Transform: ((this: object, options?: object) => void) & { prototype: Transform }
    }
    for (const name of added) Reflect.deleteProperty(prototype, name)
    Object.setPrototypeOf(prototype, Transform.prototype)
    for (const state of states) {
      Object.defineProperty(prototype, state, {
        get(this: Prototype) {
          // It defines both.
          Transform.call(this)
          return this[state]
        },
        set(this: Prototype, value: unknown) {
          Object.defineProperty(this, state, { value, writable: true, configurable: true, enumerable: true })
        },
        configurable: true,
      })
    }
  }
}
