/**
 * The built-ins that the kernel uses, saved before any bot code runs. Bot code may replace every method of its globals
 * afterwards; the kernel never looks one up again. Records of the kernel have no prototype, so a property planted on
 * `Object.prototype` does not appear on them.
 */

/* oxlint-disable typescript/unbound-method -- `uncurry` is what binds them. */

const { bind, call } = Function.prototype

export type Method<Self, Arguments extends unknown[], Result> = (this: Self, ...values: Arguments) => Result

/** Turns a method into a function whose first argument is `this`. Calling the function looks up no property. */
export const uncurry = bind.bind(call) as unknown as <Self, Arguments extends unknown[], Result>(
  method: Method<Self, Arguments, Result>,
) => (self: Self, ...values: Arguments) => Result

export const { parse, stringify } = JSON
export const { apply, construct } = Reflect
export const { assign, create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf } = Object
export const { hasOwn, keys, setPrototypeOf } = Object
export const { isArray } = Array
export const { isView } = ArrayBuffer
export const { captureStackTrace } = Error
export const { isNaN } = Number
export const { now } = Date
export const toText = String
export const toNumber = Number
export const toInteger = Number.parseInt
export const toFloat = Number.parseFloat
export const encode = encodeURIComponent
export const NativeArrayBuffer = ArrayBuffer
export const NativeDate = Date
export const NativeError = Error
export const NativeInt32Array = Int32Array
export const NativePromise = Promise
export const NativeRangeError = RangeError
export const NativeTypeError = TypeError
export const NativeUint8Array = Uint8Array
export const NativeWeakMap = WeakMap

export const sliceText = uncurry(String.prototype.slice as Method<string, [number, number?], string>)
export const indexIn = uncurry(String.prototype.indexOf as Method<string, [string, number?], number>)
export const lowerCase = uncurry(String.prototype.toLowerCase as Method<string, [], string>)
export const trimText = uncurry(String.prototype.trim as Method<string, [], string>)
export const normalizeText = uncurry(String.prototype.normalize as Method<string, [string?], string>)
export const execRegExp = uncurry(RegExp.prototype.exec as Method<RegExp, [string], RegExpExecArray | null>)
export const dateToIso = uncurry(Date.prototype.toISOString as Method<Date, [], string>)
export const timeOf = uncurry(Date.prototype.getTime as Method<Date, [], number>)
export const errorToText = uncurry(Error.prototype.toString as Method<unknown, [], string>)
export const regExpToText = uncurry(RegExp.prototype.toString as Method<RegExp, [], string>)
export const functionToText = uncurry(Function.prototype.toString as Method<Function, [], string>)
export const symbolToText = uncurry(Symbol.prototype.toString as Method<symbol, [], string>)
export const tagOf = uncurry(Object.prototype.toString as Method<object, [], string>)
export const weakMapGet = uncurry(WeakMap.prototype.get as Method<WeakMap<object, unknown>, [object], unknown>) as <
  Value,
>(
  map: WeakMap<object, Value>,
  key: object,
) => Value | undefined
export const weakMapSet = uncurry(WeakMap.prototype.set as Method<WeakMap<object, unknown>, [object, unknown], unknown>)

/** @throws TypeError unless it is an ArrayBuffer */
export const bytesIn = uncurry(
  getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength')!.get as Method<unknown, [], number>,
)

/** A record without a prototype. */
export function record<Value extends object>(value: Value): Value {
  return setPrototypeOf(value, null) as Value
}

/** Whether a value is a non-null object; functions do not count. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
