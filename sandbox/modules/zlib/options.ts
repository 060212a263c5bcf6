import type { Z_FlushMode, Z_Strategy } from 'pako'
import { codedError } from '../../prelude/node-errors.ts'

/** Options of Node's `zlib`, each of which is read once and has its default. */
export interface ZlibOptions {
  level: number
  windowBits: number
  memLevel: number
  strategy: Z_Strategy
  /** Bytes of a part of the output. */
  chunkSize: number
  flush: Z_FlushMode
  finishFlush: Z_FlushMode
  dictionary: Uint8Array | undefined
  maxOutputLength: number
}

/** The properties of a format that its options depend on. */
export interface Format {
  /** The argument for the bits of the window, by which zlib tells the formats of data apart. */
  bits(windowBits: number): number
  isCompressor: boolean
  /** Compressors have no smaller window. */
  minWindowBits: number
  /** Whether the header of the data tells the size of the window where the options do not. */
  tellsWindow: boolean
}

/** The bytes of a value; a text is UTF-8. */
export function bytesOf(value: unknown, name = 'buffer'): Uint8Array<ArrayBuffer> {
  if (typeof value === 'string') return Buffer.from(value)
  const bytes = bytesOfBuffer(value)
  if (bytes) return bytes
  const wanted = 'of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer'
  throw codedError('ERR_INVALID_ARG_TYPE', `The "${name}" argument must be ${wanted}`, TypeError)
}

/** @throws RangeError or TypeError for an option that Node refuses too */
export function readOptions(given: unknown, { minWindowBits, tellsWindow }: Format): ZlibOptions {
  const options = (given ?? {}) as Record<keyof ZlibOptions | 'info', unknown>
  if (options.info) throw codedError('ERR_METHOD_NOT_IMPLEMENTED', 'zlib has no option info in isolates')
  const whole = (name: keyof ZlibOptions, min: number, max: number, usual: number, value = options[name]) =>
    Math.trunc(numberIn(name, value, min, max) ?? usual)
  const { windowBits } = options
  const isUntold = tellsWindow && (windowBits === undefined || windowBits === null || windowBits === 0)
  return {
    chunkSize: whole('chunkSize', 64, Infinity, 16 * 1024),
    flush: whole('flush', 0, 5, 0) as Z_FlushMode,
    finishFlush: whole('finishFlush', 0, 5, 4) as Z_FlushMode,
    maxOutputLength: numberIn('maxOutputLength', options.maxOutputLength, 1, Number.MAX_SAFE_INTEGER) ?? Infinity,
    // Zero takes the size from the header.
    windowBits: isUntold ? 0 : whole('windowBits', minWindowBits, 15, 15, windowBits),
    level: whole('level', -1, 9, -1),
    memLevel: whole('memLevel', 1, 9, 8),
    strategy: whole('strategy', 0, 4, 0) as Z_Strategy,
    dictionary: dictionaryOf(options.dictionary),
  }
}

function bytesOfBuffer(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (!ArrayBuffer.isView(value)) return undefined
  // The view of a buffer that was transferred has no bytes.
  if (value.byteLength === 0) return new Uint8Array(0)
  return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength)
}

function dictionaryOf(value: unknown): Uint8Array | undefined {
  if (value === undefined) return undefined
  const bytes = bytesOfBuffer(value)
  if (bytes) return bytes
  const message = '"options.dictionary" must be an instance of Buffer, TypedArray, DataView, or ArrayBuffer'
  throw codedError('ERR_INVALID_ARG_TYPE', message, TypeError)
}

/** A number in a range; undefined for the values that Node takes for absent. */
function numberIn(option: string, value: unknown, min: number, max: number): number | undefined {
  if (value === undefined || Number.isNaN(value)) return undefined
  const name = `options.${option}`
  if (typeof value !== 'number') throw codedError('ERR_INVALID_ARG_TYPE', `"${name}" must be of type number`, TypeError)
  if (Number.isFinite(value) && value >= min && value <= max) return value
  const range = max === Infinity ? `>= ${min}` : `>= ${min} and <= ${max}`
  const message = `The value of "${name}" is out of range. It must be ${range}. Received ${value}`
  throw codedError('ERR_OUT_OF_RANGE', message, RangeError)
}
