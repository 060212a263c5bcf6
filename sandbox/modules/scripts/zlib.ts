import { codedError } from '../../prelude/node-errors.ts'
import { complete, type Provide } from '../provide.ts'
import { crc32 } from '../zlib/checksums.ts'
import { coders, type Coder } from '../zlib/coder.ts'
import { bytesOf } from '../zlib/options.ts'
import { createStreamClass } from '../zlib/streams.ts'

export const provide: Provide = (_platform, shapes) => ({
  zlib: () => complete('zlib', createModule(), shapes['zlib'], 'and with gzip and deflate only'),
})

function createModule(): object {
  const module: Record<string, unknown> = { crc32: checksumOf }
  for (const [name, open] of Object.entries(coders)) {
    const Class = createStreamClass(name, open) as new (options?: object) => object
    const method = name[0]!.toLowerCase() + name.slice(1)
    module[name] = Class
    module[`create${name}`] = (options?: object) => new Class(options)
    module[`${method}Sync`] = (value: unknown, options?: unknown) => codeWhole(open(options), bytesOf(value))
    module[method] = (value: unknown, ...[options, callback]: unknown[]) =>
      typeof options === 'function' ? codeLater(open({}), value, options) : codeLater(open(options), value, callback)
  }
  return module
}

function checksumOf(value: unknown, start: unknown = 0): number {
  // Node's takes no ArrayBuffer, unlike the others.
  const bytes = bytesOf(value instanceof ArrayBuffer ? undefined : value, 'data')
  if (typeof start !== 'number') throw codedError('ERR_INVALID_ARG_TYPE', '"value" must be of type number', TypeError)
  if (start !== start >>> 0) {
    const message = `The value of "value" is out of range. It must be a 32-bit unsigned integer. Received ${start}`
    throw codedError('ERR_OUT_OF_RANGE', message, RangeError)
  }
  return crc32(bytes, start)
}

function codeWhole({ options, write }: Coder, bytes: Uint8Array<ArrayBuffer>): Buffer {
  const { maxOutputLength, finishFlush } = options
  const parts: Uint8Array[] = []
  let length = 0
  for (const part of write(bytes, finishFlush)) {
    length += part.length
    if (length > maxOutputLength) {
      const message = `Cannot create a Buffer larger than ${maxOutputLength} bytes`
      throw codedError('ERR_BUFFER_TOO_LARGE', message, RangeError)
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The form with a callback. The work is done in the isolate, after the code that asks for it. */
function codeLater(coder: Coder, value: unknown, callback: unknown): void {
  if (typeof callback !== 'function') {
    throw codedError('ERR_INVALID_ARG_TYPE', 'The "callback" argument must be of type function', TypeError)
  }
  const bytes = bytesOf(value)
  process.nextTick(() => {
    let result: Buffer
    try {
      result = codeWhole(coder, bytes)
    } catch (error) {
      return (callback as (error: unknown) => void)(error)
    }
    ;(callback as (error: null, result: Buffer) => void)(null, result)
  })
}
