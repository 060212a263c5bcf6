import type { Z_FlushMode, Z_Strategy } from 'pako'
import { codedError } from '../http/errors.ts'

/** Options of Node's `zlib`. */
export interface ZlibOptions {
  level?: number
  windowBits?: number
  memLevel?: number
  strategy?: Z_Strategy
  /** Bytes of a part of the output. */
  chunkSize?: number
  flush?: Z_FlushMode
  finishFlush?: Z_FlushMode
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

/** @throws RangeError or TypeError for a number that Node refuses too */
export function checkOptions(options: ZlibOptions, isCompressor: boolean): void {
  checkRange('level', options.level, -1, 9)
  checkRange('windowBits', options.windowBits, isCompressor ? 8 : 0, 15)
  checkRange('memLevel', options.memLevel, 1, 9)
  checkRange('strategy', options.strategy, 0, 4)
  checkRange('chunkSize', options.chunkSize, 64, Number.MAX_SAFE_INTEGER)
  checkRange('flush', options.flush, 0, 5)
  checkRange('finishFlush', options.finishFlush, 0, 5)
  checkRange('maxOutputLength', options.maxOutputLength, 1, Number.MAX_SAFE_INTEGER)
}

function checkRange(option: string, value: unknown, min: number, max: number): void {
  if (value === undefined) return
  const name = `options.${option}`
  if (typeof value !== 'number') throw codedError('ERR_INVALID_ARG_TYPE', `"${name}" must be of type number`, TypeError)
  if (value >= min && value <= max) return
  const message = `The value of "${name}" is out of range. It must be >= ${min} and <= ${max}. Received ${value}`
  throw codedError('ERR_OUT_OF_RANGE', message, RangeError)
}
