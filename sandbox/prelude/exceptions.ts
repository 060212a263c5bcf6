import { toText } from './text.ts'

/** The names of exceptions with a legacy code, by that code from 1 on, without the ending. Codes of lower-case names have constants alone. */
const names =
  'IndexSize domstring_size HierarchyRequest WrongDocument InvalidCharacter no_data_allowed NoModificationAllowed NotFound NotSupported InUseAttribute InvalidState Syntax InvalidModification Namespace InvalidAccess validation TypeMismatch Security Network Abort URLMismatch QuotaExceeded Timeout InvalidNodeType DataClone'.split(
    ' ',
  )

const codes = new Map(names.map((name, index) => [`${name}Error`, index + 1]))

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
    return codes.get(this.#name) ?? 0
  }

  get [Symbol.toStringTag](): string {
    return 'DOMException'
  }

  static {
    names.forEach((name, index) => {
      const words = name.replace('InUse', 'Inuse').replace(/(?<=[a-z]|URL)(?=[A-Z])/g, '_')
      const constant = { [`${words.toUpperCase()}_ERR`]: { value: index + 1, enumerable: true } }
      for (const owner of [this, this.prototype]) Object.defineProperties(owner, constant)
    })
  }
}

/** Replaces the name at the start of the stack, which was written before the error had its name. */
function nameStack(error: Error, name: string, message: string): void {
  const { stack } = error
  if (typeof stack !== 'string') return
  const frames = stack.indexOf('\n    at ')
  const value = `${name}: ${message}${frames === -1 ? '' : stack.slice(frames)}`
  Object.defineProperty(error, 'stack', { value, writable: true, configurable: true })
}
