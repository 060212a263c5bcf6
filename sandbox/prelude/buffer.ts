import { Buffer } from 'buffer'

type Call = (this: unknown, ...values: unknown[]) => unknown

const { byteLength, from, isEncoding } = Buffer as unknown as Record<'byteLength' | 'from' | 'isEncoding', Call>
const { toString, write } = Buffer.prototype as unknown as Record<'toString' | 'write', Call>

/** The library's `base64` reads both alphabets. */
function known(encoding: unknown): unknown {
  return isUrl(encoding) ? 'base64' : encoding
}

function isUrl(encoding: unknown): boolean {
  return typeof encoding === 'string' && encoding.toLowerCase() === 'base64url'
}

/** Adds `base64url`, the encoding of tokens, which the library lacks, to `Buffer`. */
export function withBase64Url(): typeof Buffer {
  Object.assign(Buffer, {
    byteLength: (value: unknown, encoding: unknown) => byteLength.call(Buffer, value, known(encoding)),
    from: (value: unknown, encoding: unknown, length: unknown) => from.call(Buffer, value, known(encoding), length),
    isEncoding: (encoding: unknown) => isEncoding.call(Buffer, known(encoding)),
  })
  const methods = {
    toString(this: Buffer, ...values: unknown[]): unknown {
      const text = toString.apply(this, values.map(known)) as string
      return isUrl(values[0]) ? text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') : text
    },
    write(this: Buffer, ...values: unknown[]): unknown {
      return write.apply(this, [values[0], ...values.slice(1).map(known)])
    },
  }
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(Buffer.prototype, name, { value, writable: true, configurable: true, enumerable: true })
  }
  return Buffer
}
