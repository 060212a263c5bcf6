import { unavailable } from '../../prelude/unavailable.ts'
import { codedError } from '../http/errors.ts'

/** Options of Node's `zlib` that have an effect here. */
export interface ZlibOptions {
  level?: number
  windowBits?: number
  flush?: number
  finishFlush?: number
  dictionary?: ArrayBufferView | ArrayBuffer
  maxOutputLength?: number
}

/** The bytes of a value; a text is UTF-8. */
export function bytesOf(value: unknown, name = 'buffer'): Uint8Array<ArrayBuffer> {
  if (typeof value === 'string') return Buffer.from(value)
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength)
  }
  const wanted = 'of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer'
  throw codedError('ERR_INVALID_ARG_TYPE', `The "${name}" argument must be ${wanted}`, TypeError)
}

/** @throws RangeError for a number that Node refuses too */
export function checkOptions(options: ZlibOptions, isCompressor: boolean): void {
  checkRange('options.level', options.level, -1, 9)
  checkRange('options.windowBits', options.windowBits, isCompressor ? 8 : 0, 15)
  checkRange('options.maxOutputLength', options.maxOutputLength, 1, Number.MAX_SAFE_INTEGER)
  // The output refers to as much as 32 KB before, which a receiver with a smaller window has not.
  const { windowBits = 15 } = options
  if (isCompressor && windowBits < 15) unavailable(`zlib with windowBits ${windowBits}`, 'use windowBits 15')()
}

function checkRange(name: string, value: unknown, min: number, max: number): void {
  if (value === undefined) return
  if (typeof value !== 'number') throw codedError('ERR_INVALID_ARG_TYPE', `"${name}" must be of type number`, TypeError)
  if (value >= min && value <= max) return
  const message = `The value of "${name}" is out of range. It must be >= ${min} and <= ${max}. Received ${value}`
  throw codedError('ERR_OUT_OF_RANGE', message, RangeError)
}
