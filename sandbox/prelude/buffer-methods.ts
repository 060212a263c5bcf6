import { Buffer } from 'buffer'
import { checkInteger, checkNumber, invalidType, outOfBounds, outOfRange, wrongSize } from './node-errors.ts'

type Method = (this: Buffer, ...values: unknown[]) => unknown
type Methods = Record<string, Method>

const viewOrBuffer = 'an instance of Buffer or Uint8Array'

/** The integers that Node reads and writes, by the names after `read` and `write`: their bytes, or 0 where the caller says how many. */
const integers = {
  Int8: 1,
  UInt8: 1,
  Int: 0,
  UInt: 0,
  Int16: 2,
  UInt16: 2,
  Int32: 4,
  UInt32: 4,
  BigInt64: 8,
  BigUInt64: 8,
}

const floats = { Float: 32, Double: 64 } as const

const orders = ['LE', 'BE'] as const

/**
 * Methods of `Buffer` that the library has only for its own class, where Node takes any `Uint8Array`, or without the checks and
 * the errors of Node.
 *
 * @param given the methods of the library
 */
export function bufferMethods(given: Methods): Methods {
  const methods: Methods = { equals, compare, copy, ...searches(given), fill: fillOf(given['fill']!) }
  for (const bits of [16, 32, 64]) methods[`swap${bits}`] = swapOf(given[`swap${bits}`]!, bits)
  const add = (name: string, method: Method) => {
    methods[name] = method
    // Methods of unsigned integers have two names.
    if (name.includes('UInt')) methods[name.replace('UInt', 'Uint')] = method
  }
  for (const [type, size] of Object.entries(integers)) {
    const checkValue = rangeOf(type.includes('UInt'), type.startsWith('Big'))
    for (const order of size === 1 ? [''] : orders) {
      const [read, write] = [`read${type}${order}`, `write${type}${order}`]
      add(read, size === 0 ? readSome(given[read]!) : readOf(given[read]!, size))
      add(write, size === 0 ? writeSome(given[write]!, checkValue) : writeOf(given[write]!, size, checkValue))
    }
  }
  for (const [type, bits] of Object.entries(floats)) {
    for (const order of orders) {
      add(`read${type}${order}`, readFloat(bits, order === 'LE'))
      add(`write${type}${order}`, writeFloat(bits, order === 'LE'))
    }
  }
  return methods
}

/** Compares bytes in their order. */
export function compareBytes(one: Uint8Array, other: Uint8Array): -1 | 0 | 1 {
  const length = Math.min(one.length, other.length)
  for (let index = 0; index < length; index += 1) {
    if (one[index] !== other[index]) return one[index]! < other[index]! ? -1 : 1
  }
  return one.length === other.length ? 0 : one.length < other.length ? -1 : 1
}

function equals(this: Buffer, other: unknown): boolean {
  if (!(other instanceof Uint8Array)) throw invalidType('otherBuffer', viewOrBuffer, other)
  return this === other || (this.length === other.length && compareBytes(this, other) === 0)
}

function compare(this: Buffer, ...values: unknown[]): -1 | 0 | 1 {
  const [target] = values
  if (!(target instanceof Uint8Array)) throw invalidType('target', viewOrBuffer, target)
  const [, targetStart = 0, targetEnd = target.length, start = 0, end = this.length] = values as number[]
  checkInteger(targetStart, 'targetStart')
  checkInteger(targetEnd, 'targetEnd', 0, target.length)
  checkInteger(start, 'sourceStart')
  checkInteger(end, 'sourceEnd', 0, this.length)
  if (start >= end) return targetStart >= targetEnd ? 0 : -1
  return targetStart >= targetEnd ? 1 : compareBytes(partOf(this, start, end), partOf(target, targetStart, targetEnd))
}

function partOf({ buffer, byteOffset }: Uint8Array, from: number, to: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + from, to - from)
}

function copy(this: Buffer, target: unknown, ...values: unknown[]): number {
  if (!ArrayBuffer.isView(target)) throw invalidType('target', viewOrBuffer, target)
  const to = new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
  const [targetStart, start, end] = [integer(values[0], 0), integer(values[1], 0), integer(values[2], this.length)]
  if (targetStart < 0) throw outOfRange('targetStart', '>= 0', targetStart)
  if (start < 0 || start > this.length) throw outOfRange('sourceStart', `>= 0 && <= ${this.length}`, start)
  if (end < 0) throw outOfRange('sourceEnd', '>= 0', end)
  const count = Math.min(end - start, to.length - targetStart, this.length - start)
  if (count <= 0) return 0
  to.set(new Uint8Array(this.buffer, this.byteOffset + start, count), targetStart)
  return count
}

function integer(value: unknown, otherwise: number): number {
  const number = Math.trunc(Number(value))
  return value === undefined || Number.isNaN(number) ? otherwise : number
}

/** The library finds no empty value, and none in UTF-16 at the end. */
function find(search: Method, isForward: boolean): Method {
  return function (value, ...values) {
    const [given] = values
    const encoding = typeof given === 'string' ? given : values[1]
    if (typeof value === 'number') return search.apply(this, [value, ...values])
    if (typeof value !== 'string' && !(value instanceof Uint8Array)) {
      throw invalidType('value', 'one of type number or string or an instance of Buffer or Uint8Array', value)
    }
    const offset = typeof given === 'string' ? Number.NaN : Math.trunc(Number(given))
    const bytes = typeof value === 'string' ? Buffer.from(value, encoding as BufferEncoding) : value
    const isWide = typeof encoding === 'string' && /^(?:ucs-?2|utf-?16le)$/i.test(encoding)
    const from = Number.isNaN(offset) ? (isForward ? 0 : this.length) : offset
    return searchBytes(this, bytes, { from, isForward, step: isWide ? 2 : 1 })
  }
}

function searches({ indexOf, lastIndexOf }: Methods): Methods {
  const [first, last] = [find(indexOf!, true), find(lastIndexOf!, false)]
  return {
    indexOf: first,
    lastIndexOf: last,
    includes(...values) {
      return first.apply(this, values) !== -1
    },
  }
}

interface Search {
  /** From the end if it is negative. */
  from: number
  isForward: boolean
  /** Values begin at multiples of it. */
  step: number
}

function searchBytes(bytes: Uint8Array, value: Uint8Array, { from, isForward, step }: Search): number {
  const most = bytes.length - value.length
  const start = from < 0 ? bytes.length + from : from
  if (value.length === 0) return Math.max(0, Math.min(start, bytes.length))
  if (isForward ? start > most : start < 0) return -1
  let at = isForward ? Math.max(0, start) : Math.min(start, most)
  while (at >= 0 && at <= most) {
    at = Uint8Array.prototype[isForward ? 'indexOf' : 'lastIndexOf'].call(bytes, value[0]!, at)
    if (at === -1 || at > most) return -1
    if (at % step === 0 && value.every((byte, index) => bytes[at + index] === byte)) return at
    at += isForward ? 1 : -1
  }
  return -1
}

function fillOf(fill: Method): Method {
  return function (value, ...values) {
    const [start, end] = values
    if (start !== undefined && typeof start !== 'string') {
      checkNumber(start, 'offset', 0)
      if (end !== undefined && typeof end !== 'string') checkNumber(end, 'end', 0, this.length)
    }
    return fill.apply(this, [value, ...values])
  }
}

function swapOf(swap: Method, bits: number): Method {
  return function () {
    if (this.length % (bits / 8) !== 0) throw wrongSize(`${bits}-bits`)
    return swap.call(this)
  }
}

function checkOffset(buffer: Buffer, offset: unknown, size: number): void {
  const last = buffer.length - size
  if (Number.isInteger(offset) && (offset as number) >= 0 && (offset as number) <= last) return
  checkNumber(offset, 'offset')
  if (Math.floor(offset as number) !== offset) throw outOfRange('offset', 'an integer', offset)
  throw last < 0 ? outOfBounds() : outOfRange('offset', `>= 0 and <= ${last}`, offset)
}

function readOf(read: Method, size: number): Method {
  return function (offset = 0) {
    checkOffset(this, offset, size)
    return read.call(this, offset, true)
  }
}

function checkSize(offset: unknown, size: unknown): asserts size is number {
  if (offset === undefined) throw invalidType('offset', 'of type number', offset)
  checkNumber(size, 'byteLength')
  if (Math.floor(size as number) !== size) throw outOfRange('byteLength', 'an integer', size)
  if (size < 1 || size > 6) throw outOfRange('byteLength', '>= 1 and <= 6', size)
}

function readSome(read: Method): Method {
  return function (offset, size) {
    checkSize(offset, size)
    checkOffset(this, offset, size)
    return read.call(this, offset, size, true)
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length)
}

function readFloat(bits: 32 | 64, isLittle: boolean): Method {
  return function (offset = 0) {
    checkOffset(this, offset, bits / 8)
    return viewOf(this)[`getFloat${bits}`](offset as number, isLittle)
  }
}

/** The library writes another NaN than Node. */
function writeFloat(bits: 32 | 64, isLittle: boolean): Method {
  return function (value, offset = 0) {
    const number = Number(value)
    checkOffset(this, offset, bits / 8)
    viewOf(this)[`setFloat${bits}`](offset as number, number, isLittle)
    return (offset as number) + bits / 8
  }
}

/** Checks that a value fits into so many bytes. */
type CheckValue = (value: number | bigint, size: number) => void

function rangeOf(isUnsigned: boolean, isBig: boolean): CheckValue {
  const suffix = isBig ? 'n' : ''
  return (value, size) => {
    const bits = isUnsigned ? size * 8 : size * 8 - 1
    const [min, end] = isBig
      ? [isUnsigned ? 0n : -(2n ** BigInt(bits)), 2n ** BigInt(bits)]
      : [isUnsigned ? 0 : -(2 ** bits), 2 ** bits]
    if (!(value < min || value >= end)) return
    const power = `2${suffix} ** ${bits}${suffix}`
    const large = isUnsigned ? `>= 0${suffix} and < ${power}` : `>= -(${power}) and < ${power}`
    throw outOfRange('value', size > 4 ? large : `>= ${min} and <= ${Number(end) - 1}`, value)
  }
}

function writeOf(write: Method, size: number, checkValue: CheckValue): Method {
  return function (value, offset = 0) {
    const number = typeof value === 'bigint' ? value : Number(value)
    checkValue(number, size)
    checkOffset(this, offset, size)
    return write.call(this, number, offset, true)
  }
}

function writeSome(write: Method, checkValue: CheckValue): Method {
  return function (value, offset, size) {
    checkSize(offset, size)
    const number = Number(value)
    checkValue(number, size)
    checkOffset(this, offset, size)
    return write.call(this, number, offset, size, true)
  }
}
