import {
  apply,
  construct,
  defineProperty,
  isView,
  NativeArrayBuffer,
  NativeRangeError,
  NativeTypeError,
} from './primordials.ts'

const constructionsUntilWorn = 1000
const constructionsAllowed = 2000

/**
 * Takes away what the limits of an isolate do not cover: memory that its heap limit does not count, threads, and code
 * that runs outside of every turn. `onWorn` is called when the isolate should be replaced by a fresh one.
 */
export function narrowSurface(onWorn: () => void): void {
  const globals = globalThis as unknown as Record<string, unknown>
  // Finalizers run when the collector pleases: between turns, where nobody's processor time is counted.
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry']) delete globals[name]
  replaceArrayBuffer(globals)
  countIntl(onWorn)
}

/** Growing and moved buffers are not counted. */
function replaceArrayBuffer(globals: Record<string, unknown>): void {
  const prototype = NativeArrayBuffer.prototype as unknown as Record<string, unknown>
  for (const name of ['resize', 'transfer', 'transferToFixedLength']) delete prototype[name]

  defineProperty(FixedArrayBuffer, 'name', { value: 'ArrayBuffer' })
  defineProperty(FixedArrayBuffer, 'prototype', { value: prototype, writable: false })
  defineProperty(FixedArrayBuffer, 'isView', { value: isView })
  defineProperty(FixedArrayBuffer, Symbol.species, {
    get(this: unknown) {
      return this
    },
  })
  // Else `new Uint8Array(1).buffer.constructor` would be the old one.
  defineProperty(prototype, 'constructor', { value: FixedArrayBuffer })
  defineProperty(globals, 'ArrayBuffer', { value: FixedArrayBuffer, writable: true, configurable: true })
}

/** Takes no options, so that it makes no growing buffer. */
function FixedArrayBuffer(length: unknown): unknown {
  if (new.target === undefined) throw new NativeTypeError("Constructor ArrayBuffer requires 'new'")
  return construct(NativeArrayBuffer, [length], new.target)
}

/** Intl's objects live outside the heap: each isolate may make so many in its life. */
function countIntl(onWorn: () => void): void {
  const intl = Intl as unknown as Record<string, unknown>
  let constructions = 0
  const count = () => {
    constructions += 1
    if (constructions === constructionsUntilWorn) onWorn()
    if (constructions > constructionsAllowed) throw new NativeRangeError('Too many Intl objects were made')
  }
  for (const name of Object.getOwnPropertyNames(intl)) {
    const native = intl[name]
    if (typeof native === 'function' && 'prototype' in native) intl[name] = countedConstructor(native, count)
  }
}

function countedConstructor(native: Function, count: () => void): Function {
  function counted(this: unknown, ...values: unknown[]): unknown {
    count()
    return new.target === undefined ? apply(native, this, values) : construct(native, values, new.target)
  }
  defineProperty(counted, 'name', { value: native.name })
  defineProperty(counted, 'prototype', { value: native.prototype, writable: false })
  defineProperty(native.prototype, 'constructor', { value: counted })
  const { supportedLocalesOf } = native as unknown as { supportedLocalesOf?: unknown }
  if (supportedLocalesOf !== undefined) defineProperty(counted, 'supportedLocalesOf', { value: supportedLocalesOf })
  return counted
}
