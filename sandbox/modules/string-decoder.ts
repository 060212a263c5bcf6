import stringDecoder from 'string_decoder'
import { codedError } from '../prelude/node-errors.ts'

interface Methods {
  write(bytes: unknown): string
  end(bytes?: unknown): string
}

interface Decoder extends Methods {
  encoding: string
}

type DecoderFunction = ((this: Decoder, encoding?: string) => void) & { prototype: Decoder }

/** The package's methods of a decoder: those of some encodings are its own properties. */
const given = Symbol('methods')

/**
 * Node's `string_decoder`: the package takes views that are no `Buffer` for a list of numbers, and lacks `base64url`. It stays a function,
 * because libraries call it for objects of their own.
 */
export function createStringDecoder(): object {
  const Given = (stringDecoder as unknown as { StringDecoder: DecoderFunction }).StringDecoder

  function StringDecoder(this: Decoder, encoding?: string): void {
    const isUrl = String(encoding).toLowerCase() === 'base64url'
    if (encoding !== undefined && encoding !== null && !Buffer.isEncoding(encoding) && !isUrl) {
      throw codedError('ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`, TypeError)
    }
    // An object may have the methods of another decoder by its prototype.
    const own = Object.create(Given.prototype) as Decoder
    Given.call(own, isUrl ? 'base64' : encoding)
    const { write, end } = own
    const { write: _write, end: _end, ...rest } = own
    Object.assign(this, rest, isUrl && { encoding: 'base64url' })
    Object.defineProperty(this, given, { value: { write, end }, configurable: true })
  }

  StringDecoder.prototype = Object.create(Given.prototype, {
    constructor: { value: StringDecoder, writable: true, configurable: true },
  }) as Decoder
  Object.assign(StringDecoder.prototype, {
    write(this: Decoder & { [given]: Methods }, bytes: unknown): string {
      return toEncoding(this, Reflect.apply(this[given].write, this, [toBuffer(bytes)]))
    },
    end(this: Decoder & { [given]: Methods }, bytes?: unknown): string {
      const values = bytes === undefined ? [] : [toBuffer(bytes)]
      const text = toEncoding(this, Reflect.apply(this[given].end, this, values))
      // The package keeps the beginning of a character for the next text.
      Object.assign(this, { lastNeed: 0, lastTotal: 0 })
      return text
    },
  })
  return { StringDecoder }
}

function toEncoding({ encoding }: Decoder, text: string): string {
  if (encoding !== 'base64url') return text
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function toBuffer(bytes: unknown): unknown {
  if (typeof bytes === 'string' || Buffer.isBuffer(bytes)) return bytes
  if (ArrayBuffer.isView(bytes)) return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
  throw codedError(
    'ERR_INVALID_ARG_TYPE',
    'The "buf" argument must be an instance of Buffer, TypedArray, or DataView',
    TypeError,
  )
}
