import util from 'util'
import { Console } from '../console-class.ts'
import { isDeepStrictEqual } from '../deep-equal.ts'
import { format, formatWithOptions, inspect } from '../format.ts'
import { callSites } from '../call-sites.ts'
import { checkInteger, codedError } from '../../prelude/node-errors.ts'
import { complete, type Provide } from '../provide.ts'

export const provide: Provide = (_platform, shapes) => {
  const make = () => complete('util', { ...utilModule(), types: makeTypes() }, shapes['util'])
  const types = {
    ...util.types,
    isExternal: none,
    isProxy: none,
    isModuleNamespaceObject: isTagged('Module'),
    isKeyObject: isTagged('KeyObject'),
    isNativeError: (Error as unknown as { isError: (value: unknown) => boolean }).isError,
  }
  const makeTypes = () =>
    complete(
      'util/types',
      { ...types, isCryptoKey: isTagged('CryptoKey'), isFloat16Array: isTagged('Float16Array') },
      shapes['util/types'],
    )
  let made: object | undefined
  return {
    console: () => Object.defineProperty(console, 'Console', { value: Console, writable: true, configurable: true }),
    util: () => (made ??= make()),
    sys: () => (made ??= make()),
    'util/types': makeTypes,
  }
}

const none = () => false

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
    getCallSites,
    deprecate: (callback: Callback) => callback,
    inherits,
    formatWithOptions,
    isDeepStrictEqual,
    promisify: Object.assign(promisify, { custom: promisified }),
    callbackify,
    stripVTControlCharacters: (text: string) => text.replaceAll(controlSequences, ''),
    styleText,
    toUSVString: (text: unknown) => String(text).toWellFormed(),
    TextDecoder,
    TextEncoder,
  }
}

const promisified = Symbol.for('nodejs.util.promisify.custom')

/** The package looks for a symbol of its own, and not for the one by which functions of Node have another form. */
function promisify(original: Callback): Callback {
  const other = (original as { [promisified]?: unknown } | undefined)?.[promisified]
  if (typeof other === 'function') return other as Callback
  if (other !== undefined) throw wrongType('The "util.promisify.custom" property must be of type function')
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

/** Frames of the platform that stand between those of the bundle. */
const maxPlatformFrames = 50

/** The calls of the bundle that lead to this one; those of the platform are left out. */
function getCallSites(given?: unknown): object[] {
  const count = typeof given === 'object' && given !== null ? 10 : (given ?? 10)
  checkInteger(count, 'frameCount', 1, 200)
  return callSites((count as number) + maxPlatformFrames)
    .filter((site) => site.getFileName()?.endsWith(bundleName))
    .slice(0, count as number)
    .map((site) => ({
      functionName: site.getFunctionName() ?? '',
      scriptId: '0',
      scriptName: site.getFileName(),
      lineNumber: site.getLineNumber(),
      columnNumber: site.getColumnNumber(),
      column: site.getColumnNumber(),
    }))
}

const bundleName = 'bot.js'

const debuglog = () => Object.assign(() => {}, { enabled: false })

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Sequences of ANSI terminals: colors and cursors, and those of operating systems, such as links. */
const controlSequences = new RegExp(
  [
    String.raw`(?:\u001B\][\s\S]*?(?:\u0007|\u001B\u005C|\u009C))`,
    String.raw`[\u001B\u009B][[\]()#;?]*(?:\d{1,4}(?:[;:]\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]`,
  ].join('|'),
  'g',
)

/** Isolates have no terminal: the text has colors only where the code asks for no check of its stream. */
function styleText(format: string | string[], text: string, options?: { validateStream?: boolean }): string {
  const names = Array.isArray(format) ? format : [format]
  for (const name of names) {
    if (name !== 'none' && !Object.hasOwn(inspect.colors, name)) {
      throw codedError('ERR_INVALID_ARG_VALUE', `The argument 'format' must be a style. Received '${name}'`, TypeError)
    }
  }
  if (options?.validateStream !== false) return text
  let styled = text
  for (const name of names.toReversed()) {
    const [begin, end] = name === 'none' ? [0, 0] : inspect.colors[name]!
    if (name !== 'none') styled = `\u001b[${begin}m${styled}\u001b[${end}m`
  }
  return styled
}

/** The package gives the error of a rejection without a reason no code. */
function callbackify(original: (...values: unknown[]) => Promise<unknown>): Callback {
  const given = util.callbackify(original) as Callback
  const callbackified = function (this: unknown, ...values: unknown[]) {
    const callback: unknown = values.pop()
    if (typeof callback !== 'function') throw wrongType('The last argument must be of type function')
    const call = (error: unknown, ...results: unknown[]) => {
      const isFalsy = error instanceof Error && 'reason' in error && !error.reason
      const told = isFalsy ? codedError('ERR_FALSY_VALUE_REJECTION', 'Promise was rejected with falsy value') : error
      if (isFalsy) Object.assign(told as Error, { reason: error.reason })
      Reflect.apply(callback, this, [told, ...results])
    }
    Reflect.apply(given, this, [...values, call])
  }
  return Object.defineProperty(callbackified, 'name', { value: `${original.name}Callbackified` })
}

function isTagged(tag: string): (value: unknown) => boolean {
  return (value) => Object.prototype.toString.call(value) === `[object ${tag}]`
}
