import {
  apply,
  construct,
  defineProperty,
  getPrototypeOf,
  isView,
  NativeArrayBuffer,
  NativeRangeError,
  NativeTypeError,
  NativeWeakMap,
  record,
  toText,
  weakMapGet,
  weakMapSet,
} from './primordials.ts'

/** Constructions per allocation unit that is reported to the host. */
const constructionsPerUnit = 100
const constructionsAllowed = 2000
const tooMany = `An isolate may create at most ${constructionsAllowed} Intl objects: create each once and reuse it`
/** Characters of a copied text that weigh as much as one small object. */
const charactersPerConstruction = 2000

/**
 * Removes the globals that the limits of an isolate do not cover: memory outside of its heap limit, threads, and code
 * that runs outside of every turn. `onAllocation` receives the allocation units of each step.
 */
export function hardenGlobals(onAllocation: (units: number) => void): void {
  const globals = globalThis as unknown as Record<string, unknown>
  // Finalizers run at any time, also between turns, where no run is charged for their processor time.
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry']) delete globals[name]
  replaceArrayBuffer(globals)
  countIntl(onAllocation)
}

/** Resizable and transferred buffers are not counted against the heap limit. */
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
  // Otherwise `new Uint8Array(1).buffer.constructor` would be the native one.
  defineProperty(prototype, 'constructor', { value: FixedArrayBuffer })
  defineProperty(globals, 'ArrayBuffer', { value: FixedArrayBuffer, writable: true, configurable: true })
}

/** Ignores options, so that it creates no resizable buffer. */
function FixedArrayBuffer(length: unknown): unknown {
  if (new.target === undefined) throw new NativeTypeError("Constructor ArrayBuffer requires 'new'")
  return construct(NativeArrayBuffer, [length], new.target)
}

/** Counts allocations outside the heap, in objects. Throws beyond the limit. */
type Count = (objects: number) => void

/** Intl's objects live outside the heap; each isolate has a fixed number of them for its life. */
function countIntl(onAllocation: (units: number) => void): void {
  const intl = Intl as unknown as Record<string, unknown>
  let made = 0
  const count: Count = (objects) => {
    const units = unitsIn(made + objects) - unitsIn(made)
    made += objects
    if (units > 0) onAllocation(units)
    if (made > constructionsAllowed) throw new NativeRangeError(tooMany)
  }
  const { Locale, Segmenter } = Intl
  for (const name of Object.getOwnPropertyNames(intl)) {
    const native = intl[name]
    if (typeof native === 'function' && 'prototype' in native) intl[name] = countedConstructor(native, count)
  }
  for (const name of ['maximize', 'minimize']) {
    replaceMethod(Locale.prototype, name, (native, locale) => {
      count(1)
      return apply(native, locale, [])
    })
  }
  countSegments(Segmenter.prototype, count)
}

function unitsIn(objects: number): number {
  // Whole units. Not `Math.floor`: bot code may have replaced `Math`.
  return (objects / constructionsPerUnit) | 0
}

/** `segment` copies its text, and so does each iterator over the segments. */
function countSegments(prototype: object, count: Count): void {
  const lengths = new NativeWeakMap<object, number>()
  const countText = (length: number) => count(1 + length / charactersPerConstruction)
  let countsIterators = false
  replaceMethod(prototype, 'segment', (native, segmenter, given) => {
    const text = toText(given)
    countText(text.length)
    const segments = apply(native, segmenter, [text]) as object
    weakMapSet(lengths, segments, text.length)
    // The prototype of segments is reachable only through an instance.
    if (!countsIterators) {
      countsIterators = true
      replaceMethod(getPrototypeOf(segments) as object, Symbol.iterator, (iterate, self) => {
        countText(weakMapGet(lengths, self as object) ?? 0)
        return apply(iterate, self, [])
      })
    }
    return segments
  })
}

/** Replaces a built-in method by `call`, which receives the native method, `this` and the first argument. */
function replaceMethod(
  prototype: object,
  name: string | symbol,
  call: (native: Function, self: unknown, value: unknown) => unknown,
): void {
  const native = (prototype as Record<string | symbol, Function>)[name]!
  const { method } = {
    method(this: unknown, value: unknown): unknown {
      return call(native, this, value)
    },
  }
  // A method may be replaced after bot code has run, and bot code may have put a `get` on `Object.prototype`.
  defineProperty(method, 'name', record({ value: native.name }))
  defineProperty(prototype, name, record({ value: method, writable: true, configurable: true }))
}

function countedConstructor(native: Function, count: Count): Function {
  function counted(this: unknown, ...values: unknown[]): unknown {
    count(1)
    return new.target === undefined ? apply(native, this, values) : construct(native, values, new.target)
  }
  defineProperty(counted, 'name', { value: native.name })
  defineProperty(counted, 'prototype', { value: native.prototype, writable: false })
  defineProperty(native.prototype, 'constructor', { value: counted })
  const { supportedLocalesOf } = native as unknown as { supportedLocalesOf?: unknown }
  if (supportedLocalesOf !== undefined) defineProperty(counted, 'supportedLocalesOf', { value: supportedLocalesOf })
  return counted
}
