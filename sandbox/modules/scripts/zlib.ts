import { Z_FINISH } from 'pako'
import { codedError } from '../http/errors.ts'
import { complete, type Provide } from '../provide.ts'
import { crc32 } from '../zlib/checksums.ts'
import { coders, type OpenCoder } from '../zlib/coder.ts'
import { bytesOf, type ZlibOptions } from '../zlib/options.ts'
import { createStreamClass } from '../zlib/streams.ts'

export const provide: Provide = (_platform, shapes) => ({
  zlib: () => complete('zlib', createModule(), shapes['zlib'], 'and with gzip and deflate only'),
})

function createModule(): object {
  const module: Record<string, unknown> = { crc32: checksumOf }
  for (const [name, open] of Object.entries(coders)) {
    const Class = createStreamClass(name, open) as new (options?: ZlibOptions) => object
    const method = name[0]!.toLowerCase() + name.slice(1)
    module[name] = Class
    module[`create${name}`] = (options?: ZlibOptions) => new Class(options)
    module[`${method}Sync`] = (value: unknown, options?: ZlibOptions) => codeWhole(open, bytesOf(value), options)
    module[method] = (value: unknown, ...others: unknown[]) => codeLater(open, value, others)
  }
  return module
}

function checksumOf(value: unknown, start = 0): number {
  return crc32(bytesOf(value, 'data'), start)
}

function codeWhole(open: OpenCoder, bytes: Uint8Array<ArrayBuffer>, options: ZlibOptions = {}): Buffer {
  const { maxOutputLength = Infinity, finishFlush = Z_FINISH } = options
  const parts: Uint8Array[] = []
  let length = 0
  const coder = open(options, (part) => {
    length += part.length
    if (length > maxOutputLength) {
      const message = `Cannot create a Buffer larger than ${maxOutputLength} bytes`
      throw codedError('ERR_BUFFER_TOO_LARGE', message, RangeError)
    }
    parts.push(part)
  })
  coder.write(bytes, finishFlush)
  return Buffer.concat(parts)
}

type Callback = (error: unknown, result?: Buffer) => void

/** The form with a callback. The work is done in the isolate, after the code that asks for it. */
function codeLater(open: OpenCoder, value: unknown, others: unknown[]): void {
  const callback = (typeof others[0] === 'function' ? others[0] : others[1]) as Callback
  const options = typeof others[0] === 'function' ? {} : (others[0] as ZlibOptions)
  if (typeof callback !== 'function') {
    throw codedError('ERR_INVALID_ARG_TYPE', 'The "callback" argument must be of type function', TypeError)
  }
  const bytes = bytesOf(value)
  process.nextTick(() => {
    let result: Buffer
    try {
      result = codeWhole(open, bytes, options)
    } catch (error) {
      return callback(error)
    }
    callback(null, result)
  })
}
