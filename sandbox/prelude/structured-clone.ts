/** What has been copied already, so that what is there twice, or holds itself, is so in the copy as well. */
type Copies = Map<object, unknown>

/**
 * The web's `structuredClone`. Buffers that are transferred are copied, and stay where they were: isolates have none that
 * move.
 *
 * @throws a DataCloneError for functions, symbols, and objects that are more than data
 */
export function structuredClone(value: unknown, options?: { transfer?: Iterable<unknown> } | null): unknown {
  if (arguments.length === 0) throw new TypeError('structuredClone takes a value')
  for (const one of options?.transfer ?? []) {
    if (!(one instanceof ArrayBuffer)) throw notCloned('Only an ArrayBuffer can be transferred here')
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
  if (prototype === Object.prototype || prototype === null) {
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

const { get: viewNameOf } = descriptorOf(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag)

/** Views of one buffer are views of one buffer in the copy. */
function copyView(view: ArrayBufferView, copies: Copies): object {
  const buffer = copy(view.buffer, copies) as ArrayBuffer
  const name = viewNameOf!.call(view) as string | undefined
  if (name === undefined) return new DataView(buffer, view.byteOffset, view.byteLength)
  const TypedArray = (globalThis as unknown as Record<string, Uint8ArrayConstructor>)[name]!
  return new TypedArray(buffer, view.byteOffset, (view as Uint8Array).length)
}

const errorNames = ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']

function copyError(error: Error, copies: Copies): object {
  const { name, message, stack } = error
  if (error instanceof DOMException) return remember(new DOMException(message, name), error, copies)
  const kind = errorNames.includes(name) ? name : 'Error'
  const ErrorOfKind = (globalThis as unknown as Record<string, ErrorConstructor>)[kind]!
  const hasMessage = Object.hasOwn(error, 'message')
  const made = remember(hasMessage ? new ErrorOfKind(message) : new ErrorOfKind(), error, copies)
  Object.defineProperty(made, 'stack', { value: stack, writable: true, configurable: true })
  if (Object.hasOwn(error, 'cause')) {
    const cause = copy(error.cause, copies)
    Object.defineProperty(made, 'cause', { value: cause, writable: true, configurable: true })
  }
  return made
}

const { slice } = ArrayBuffer.prototype

function copyBuiltIn(value: object, copies: Copies): object {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  switch (tag) {
    case 'Date':
      return remember(new Date((value as Date).getTime()), value, copies)
    case 'RegExp':
      return remember(new RegExp((value as RegExp).source, (value as RegExp).flags), value, copies)
    case 'ArrayBuffer':
      return remember(slice.call(value as ArrayBuffer, 0), value, copies)
    case 'Boolean':
    case 'Number':
    case 'String':
    case 'BigInt':
      return remember(Object((value as { valueOf(): unknown }).valueOf()) as object, value, copies)
    case 'Map': {
      const made = remember(new Map<unknown, unknown>(), value, copies)
      for (const [key, held] of Array.from(value as Map<unknown, unknown>))
        made.set(copy(key, copies), copy(held, copies))
      return made
    }
    case 'Set': {
      const made = remember(new Set<unknown>(), value, copies)
      for (const held of Array.from(value as Set<unknown>)) made.add(copy(held, copies))
      return made
    }
  }
  if (notData.has(tag)) throw notCloned(`#<${tag}> could not be cloned.`)
  return copyProperties(value, remember({}, value, copies), copies)
}

/** What is more than its properties. */
const notData = new Set([
  'AbortController',
  'AbortSignal',
  'AsyncGenerator',
  'Blob',
  'Crypto',
  'CryptoKey',
  'Event',
  'EventTarget',
  'File',
  'FormData',
  'Generator',
  'Headers',
  'Promise',
  'ReadableStream',
  'Request',
  'Response',
  'Symbol',
  'TransformStream',
  'URL',
  'URLSearchParams',
  'WeakMap',
  'WeakRef',
  'WeakSet',
  'WritableStream',
])

function notCloned(message: string): DOMException {
  return new DOMException(message, 'DataCloneError')
}

function descriptorOf(object: object, key: PropertyKey): PropertyDescriptor {
  return Object.getOwnPropertyDescriptor(object, key)!
}
