import { toText } from './text.ts'

/** The legacy codes of exceptions; names without a code are absent. */
const codes: Record<string, number> = {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InUseAttributeError: 10,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  TypeMismatchError: 17,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  InvalidNodeTypeError: 24,
  DataCloneError: 25,
}

/** The web's `DOMException`. */
export class DOMException extends Error {
  readonly #name: string
  readonly #message: string

  /** @param options the name, or an object with the name and the cause */
  constructor(message: unknown = '', options: unknown = 'Error') {
    const given = typeof options === 'object' && options !== null ? (options as { name?: unknown }) : { name: options }
    super('', 'cause' in given ? { cause: given.cause } : undefined)
    // The own property that `Error` defines would hide the accessor.
    delete (this as { message?: string }).message
    this.#message = String(message)
    this.#name = toText(given.name ?? 'Error')
    nameStack(this, this.#name, this.#message)
  }

  override get name(): string {
    return this.#name
  }

  override get message(): string {
    return this.#message
  }

  get code(): number {
    return Object.hasOwn(codes, this.#name) ? codes[this.#name]! : 0
  }

  get [Symbol.toStringTag](): string {
    return 'DOMException'
  }

  static {
    for (const [name, code] of Object.entries(codes)) {
      const constant = name.replace(/Error$/, '').replace(/(?<=[a-z])(?=[A-Z])/g, '_')
      const descriptor = { value: code, enumerable: true }
      Object.defineProperty(this, constantOf(constant), descriptor)
      Object.defineProperty(this.prototype, constantOf(constant), descriptor)
    }
  }
}

/** Makes `INDEX_SIZE_ERR` from `Index_Size`. */
function constantOf(words: string): string {
  return `${words.toUpperCase()}_ERR`
}

/** Replaces the name at the start of the stack, which was written before the error had its name. */
function nameStack(error: Error, name: string, message: string): void {
  const { stack } = error
  if (typeof stack !== 'string') return
  const frames = stack.indexOf('\n    at ')
  const value = `${name}: ${message}${frames === -1 ? '' : stack.slice(frames)}`
  Object.defineProperty(error, 'stack', { value, writable: true, configurable: true })
}
