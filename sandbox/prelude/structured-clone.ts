import { Blob, File } from './blob.ts'
import { DOMException } from './exceptions.ts'

/** Objects copied so far, so that shared references and cycles are preserved in the copy. */
type Copies = Map<object, unknown>

/**
 * The web's `structuredClone`. Transferred buffers are copied, and the originals stay usable: buffers cannot be moved
 * in isolates.
 *
 * @throws DataCloneError for functions, symbols, and objects that are more than data
 */
export function structuredClone(value: unknown, options?: { transfer?: Iterable<unknown> } | null): unknown {
  if (arguments.length === 0) throw new TypeError('structuredClone requires a value')
  if (options !== undefined && options !== null && typeof options !== 'object' && typeof options !== 'function') {
    throw new TypeError('The options of structuredClone must be an object')
  }
  const transferred = new Set<unknown>()
  for (const one of options?.transfer ?? []) {
    if (typeof one !== 'object' || one === null) throw new TypeError('Only objects can be transferred')
    if (!(one instanceof ArrayBuffer)) throw notCloned('Only an ArrayBuffer can be transferred here')
    if (transferred.has(one)) throw notCloned('An ArrayBuffer can be transferred only once')
    transferred.add(one)
  }
  return copy(value, new Map())
}

function copy(value: unknown, copies: Copies): unknown {
  if (typeof value === 'symbol') throw notCloned(`${String(value)} could not be cloned.`)
  if (typeof value === 'function') throw notCloned(`${String(value).slice(0, 100)} could not be cloned.`)
  if (typeof value !== 'object' || value === null) return value
  if (copies.has(value)) return copies.get(value)
  if (Array.isArray(value)) return copyProperties(value, remember([], value, copies), copies)
  const prototype = Object.getPrototypeOf(value) as unknown
  if (prototype === objectPrototype || prototype === null) {
    return copyProperties(value, remember({}, value, copies), copies)
  }
  if (ArrayBuffer.isView(value)) return remember(copyView(value, copies), value, copies)
  if (Error.isError(value)) return copyError(value, copies)
  return copyBuiltIn(value, copies)
}

function remember<Copy extends object>(made: Copy, value: object, copies: Copies): Copy {
  copies.set(value, made)
  return made
}

function copyProperties(value: object, target: object, copies: Copies): object {
  if (Array.isArray(target)) target.length = (value as unknown[]).length
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(value, key)) continue
    const property = copy((value as Record<string, unknown>)[key], copies)
    Object.defineProperty(target, key, { value: property, writable: true, enumerable: true, configurable: true })
  }
  return target
}

const viewNameOf = getterOf(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag)

/** Views of one buffer share one buffer in the copy. */
function copyView(view: ArrayBufferView, copies: Copies): object {
  const buffer = copy(view.buffer, copies) as ArrayBuffer
  const name = viewNameOf.call(view) as string | undefined
  if (name === undefined) return new DataView(buffer, view.byteOffset, view.byteLength)
  const TypedArray = (globalThis as unknown as Record<string, Uint8ArrayConstructor>)[name]!
  return new TypedArray(buffer, view.byteOffset, (view as Uint8Array).length)
}

const errorNames = ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']

function copyError(error: Error, copies: Copies): object {
  const { name, stack } = error
  if (error instanceof DOMException) return remember(new DOMException(error.message, name), error, copies)
  const kind = errorNames.includes(name) ? name : 'Error'
  const ErrorOfKind = (globalThis as unknown as Record<string, ErrorConstructor>)[kind]!
  const message = Object.getOwnPropertyDescriptor(error, 'message')
  const hasMessage = message !== undefined && 'value' in message
  const made = remember(hasMessage ? new ErrorOfKind(message.value as string) : new ErrorOfKind(), error, copies)
  Object.defineProperty(made, 'stack', { value: stack, writable: true, configurable: true })
  if (Object.hasOwn(error, 'cause')) {
    const cause = copy(error.cause, copies)
    Object.defineProperty(made, 'cause', { value: cause, writable: true, configurable: true })
  }
  return made
}

type Method = (this: unknown) => unknown

/** The objects of one class that have state besides their properties. */
interface Kind {
  /**
   * Throws for an object that only inherits from the class. Saved here, because bot code may replace the method on the
   * class.
   */
  ask: Method
  /** @param answer the return value of `ask` */
  copy(value: object, copies: Copies, answer: unknown): object
}

const objectPrototype = Object.prototype
const { slice } = ArrayBuffer.prototype
const { entries } = Map.prototype
const { values } = Set.prototype
const flagsOf = getterOf(RegExp.prototype, 'flags')

const boxed = ({ valueOf }: { valueOf: Method }): Kind => ({
  ask: valueOf,
  copy: (value, copies, answer) => remember(Object(answer) as object, value, copies),
})

const kinds = new Map<object, Kind>([
  [
    Date.prototype,
    {
      ask: Date.prototype.getTime,
      copy: (value, copies, time) => remember(new Date(time as number), value, copies),
    },
  ],
  [
    RegExp.prototype,
    {
      ask: getterOf(RegExp.prototype, 'source'),
      copy: (value, copies, source) =>
        remember(new RegExp(source as string, flagsOf.call(value) as string), value, copies),
    },
  ],
  [
    ArrayBuffer.prototype,
    {
      ask: getterOf(ArrayBuffer.prototype, 'byteLength'),
      copy: (value, copies) => remember(slice.call(value as ArrayBuffer, 0), value, copies),
    },
  ],
  [
    Map.prototype,
    {
      ask: getterOf(Map.prototype, 'size'),
      copy(value, copies) {
        const made = remember(new Map<unknown, unknown>(), value, copies)
        const all = Array.from(entries.call(value as Map<unknown, unknown>))
        for (const [key, held] of all) made.set(copy(key, copies), copy(held, copies))
        return made
      },
    },
  ],
  [
    Set.prototype,
    {
      ask: getterOf(Set.prototype, 'size'),
      copy(value, copies) {
        const made = remember(new Set<unknown>(), value, copies)
        for (const held of Array.from(values.call(value as Set<unknown>))) made.add(copy(held, copies))
        return made
      },
    },
  ],
  [
    File.prototype,
    {
      ask: getterOf(File.prototype, 'name'),
      copy(value, copies, name) {
        const { lastModified, type } = value as File
        return remember(new File([value], name, { type, lastModified }), value, copies)
      },
    },
  ],
  [
    Blob.prototype,
    {
      ask: getterOf(Blob.prototype, 'type'),
      copy: (value, copies, type) => remember(new Blob([value], { type }), value, copies),
    },
  ],
  ...[Boolean, Number, String, BigInt].map(({ prototype }) => [prototype as object, boxed(prototype)] as const),
])

/** Classes of the language and the web whose objects have state that cannot be cloned. */
const notData = [
  'AbortController',
  'AbortSignal',
  'Crypto',
  'CryptoKey',
  'Event',
  'EventTarget',
  'FormData',
  'Headers',
  'Promise',
  'ReadableStream',
  'Request',
  'Response',
  'SubtleCrypto',
  'Symbol',
  'TextDecoder',
  'TextEncoder',
  'TransformStream',
  'URL',
  'URLSearchParams',
  'WeakMap',
  'WeakRef',
  'WeakSet',
  'WritableStream',
]

let prototypesOfNotData: Set<object | undefined> | undefined

/** Called after this script, when the classes of streams and keys exist too, and before bot code. */
function findPrototypesOfNotData(): Set<object | undefined> {
  const globals = globalThis as unknown as Record<string, { prototype: object } | undefined>
  const iterators = [
    (function* () {})(),
    (async function* () {})(),
    [][Symbol.iterator](),
    ''[Symbol.iterator](),
    new Map().entries(),
    new Set().values(),
  ].map((iterator) => Object.getPrototypeOf(iterator) as object)
  const [generator, asyncGenerator, ...others] = iterators
  const generators = [generator!, asyncGenerator!].map((prototype) => Object.getPrototypeOf(prototype) as object)
  return new Set([...notData.map((name) => globals[name]?.prototype), ...generators, ...others])
}

/**
 * Copies an instance of a class: as the nearest kind that it inherits from and is a genuine instance of, otherwise by
 * its properties.
 */
function copyBuiltIn(value: object, copies: Copies): object {
  prototypesOfNotData ??= findPrototypesOfNotData()
  let prototype = Object.getPrototypeOf(value) as object | null
  for (; prototype !== null && prototype !== objectPrototype; prototype = Object.getPrototypeOf(prototype) as object) {
    if (prototypesOfNotData.has(prototype)) throw notCloned('An object that is not plain data could not be cloned.')
    const kind = kinds.get(prototype)
    const answer = kind && ask(kind, value)
    if (answer) return kind.copy(value, copies, answer.value)
  }
  return copyProperties(value, remember({}, value, copies), copies)
}

function ask(kind: Kind, value: object): { value: unknown } | undefined {
  try {
    return { value: kind.ask.call(value) }
  } catch {
    return undefined
  }
}

function notCloned(message: string): DOMException {
  return new DOMException(message, 'DataCloneError')
}

function getterOf(object: object, key: PropertyKey): Method {
  return Object.getOwnPropertyDescriptor(object, key)!.get!
}
