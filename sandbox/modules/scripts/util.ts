import util from 'util'
import { isDeepStrictEqual } from '../deep-equal.ts'
import { format, formatWithOptions, inspect } from '../format.ts'
import { codedError } from '../http/errors.ts'
import { complete, type Provide } from '../provide.ts'

export const provide: Provide = (_platform, shapes) => {
  const make = () => complete('util', { ...utilModule(), types: makeTypes() }, shapes['util'])
  const types = { ...util.types, isExternal: () => false, isProxy: () => false, isKeyObject: isTagged('KeyObject') }
  const makeTypes = () =>
    complete(
      'util/types',
      { ...types, isCryptoKey: isTagged('CryptoKey'), isFloat16Array: isTagged('Float16Array') },
      shapes['util/types'],
    )
  let made: object | undefined
  return {
    util: () => (made ??= make()),
    sys: () => (made ??= make()),
    'util/types': makeTypes,
  }
}

type Callback = (...values: unknown[]) => unknown

/** The functions of Node's `util` that the package lacks. */
function utilModule(): object {
  return {
    ...util,
    format,
    inspect,
    debuglog,
    debug: debuglog,
    aborted,
    deprecate: (callback: Callback) => callback,
    inherits,
    formatWithOptions,
    isDeepStrictEqual,
    promisify: Object.assign(promisify, { custom: promisified }),
    stripVTControlCharacters: (text: string) =>
      text.replaceAll(new RegExp(String.raw`\u001b\[[\d;]*[A-Za-z]`, 'g'), ''),
    styleText: (_format: unknown, text: string) => text,
    toUSVString: (text: unknown) => String(text).toWellFormed(),
    TextDecoder,
    TextEncoder,
  }
}

const promisified = Symbol.for('nodejs.util.promisify.custom')

/** The package looks for a symbol of its own, and not for the one by which functions of Node have another form. */
function promisify(original: Callback): Callback {
  const other = (original as { [promisified]?: Callback } | undefined)?.[promisified]
  if (typeof other === 'function') return other
  const promising = util.promisify(original) as Callback
  return Object.defineProperty(promising, promisified, { value: promising, configurable: true })
}

/** The package replaces the prototype of the class, and with it the methods that it has so far. */
function inherits(Class: unknown, Super: unknown): void {
  const { prototype } = classOf('ctor', Class)
  const { prototype: superPrototype } = classOf('superCtor', Super)
  if (superPrototype === undefined) throw wrongType('The "superCtor.prototype" property must be of type object')
  Object.defineProperty(Class, 'super_', { value: Super, writable: true, configurable: true })
  Object.setPrototypeOf(prototype, superPrototype)
}

function classOf(name: string, value: unknown): { prototype?: unknown } {
  if (value === undefined || value === null) throw wrongType(`The "${name}" argument must be of type function`)
  return value
}

function wrongType(message: string): Error {
  return codedError('ERR_INVALID_ARG_TYPE', message, TypeError)
}

const debuglog = () => Object.assign(() => {}, { enabled: false })

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

function isTagged(tag: string): (value: unknown) => boolean {
  return (value) => Object.prototype.toString.call(value) === `[object ${tag}]`
}
