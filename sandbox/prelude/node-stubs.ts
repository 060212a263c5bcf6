import { EventEmitter } from 'events'
import { unavailable, unavailableIn } from './unavailable.ts'

type StreamConstructor = (this: object, options?: unknown) => void

/**
 * Makes streams as functions instead of classes, because libraries derive from them with `util.inherits` and call them
 * without `new`. They can be constructed and listened to, but carry no data.
 */
function streamCalled(name: string): StreamConstructor {
  // oxlint-disable-next-line unicorn/consistent-function-scoping -- each has a prototype of its own.
  const Stream: StreamConstructor = function () {
    Reflect.apply(EventEmitter, this, [])
  }
  const flow = unavailableIn('stream', ['read', 'write', 'end', 'pipe', 'push'])
  const prototype = Object.assign(Object.create(EventEmitter.prototype) as object, flow, { constructor: Stream })
  Object.defineProperty(Stream, 'name', { value: name })
  Object.defineProperty(Stream, 'prototype', { value: prototype, writable: true })
  return Stream
}

export const stream = Object.assign(streamCalled('Stream'), {
  Stream: streamCalled('Stream'),
  Readable: streamCalled('Readable'),
  Writable: streamCalled('Writable'),
  Duplex: streamCalled('Duplex'),
  Transform: streamCalled('Transform'),
  PassThrough: streamCalled('PassThrough'),
  pipeline: unavailable('stream.pipeline'),
  finished: unavailable('stream.finished'),
})

/** Holds the options of connections that are never opened. */
class Agent extends EventEmitter {
  readonly options: unknown

  constructor(options: unknown = {}) {
    super()
    this.options = options
  }

  destroy(): void {}
}

function httpModule(name: string): object {
  return {
    Agent,
    globalAgent: new Agent(),
    METHODS: ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'],
    STATUS_CODES: {},
    ...unavailableIn(name, ['request', 'get', 'createServer']),
  }
}

export const http = httpModule('http')
export const https = httpModule('https')
export const http2 = { constants: {}, ...unavailableIn('http2', ['connect', 'createServer', 'createSecureServer']) }
export const net = {
  isIP: () => 0,
  isIPv4: () => false,
  isIPv6: () => false,
  Socket: unavailable('net.Socket'),
  ...unavailableIn('net', ['connect', 'createConnection', 'createServer']),
}
export const tls = {
  TLSSocket: unavailable('tls.TLSSocket'),
  ...unavailableIn('tls', ['connect', 'createServer', 'createSecureContext']),
}
export const fs = {
  existsSync: () => false,
  promises: unavailableIn('fs.promises', ['readFile', 'writeFile', 'open', 'stat', 'mkdir', 'readdir', 'rm']),
  ...unavailableIn('fs', [
    'readFile',
    'readFileSync',
    'writeFile',
    'writeFileSync',
    'createReadStream',
    'createWriteStream',
    'open',
    'openSync',
    'stat',
    'statSync',
    'mkdirSync',
    'readdirSync',
    'unlinkSync',
  ]),
}

const compressions = ['Gzip', 'Gunzip', 'Deflate', 'Inflate', 'DeflateRaw', 'InflateRaw', 'BrotliCompress']
const zlibFunctions = [...compressions, 'BrotliDecompress', 'Unzip'].flatMap((name) => {
  const method = name[0]!.toLowerCase() + name.slice(1)
  return [`create${name}`, method, `${method}Sync`]
})

export const zlib = {
  constants: {
    Z_SYNC_FLUSH: 2,
    Z_FULL_FLUSH: 3,
    Z_FINISH: 4,
    BROTLI_OPERATION_PROCESS: 0,
    BROTLI_OPERATION_FLUSH: 1,
    ZSTD_e_flush: 1,
  },
  ...unavailableIn('zlib', zlibFunctions, 'bundle a library that computes it'),
}
/** Libraries with coloured output read it, and then find that there is no terminal. */
export const os = {
  EOL: '\n',
  platform: () => 'linux',
  type: () => 'Linux',
  release: () => '',
  homedir: () => '/',
  tmpdir: () => '/',
}
export const tty = { isatty: () => false }
