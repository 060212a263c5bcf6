import * as buffer from 'buffer'
import { EventEmitter } from 'events'
import path from 'path-browserify'
import util from 'util'
import { assert } from './assert.ts'
import type { WebCrypto } from './crypto.ts'
import { TextDecoder, TextEncoder } from './encoding.ts'
import { process } from './process.ts'
import { fs, http, http2, https, net, stream, tls, tty, zlib } from './stand-ins.ts'
import { unavailableIn } from './unavailable.ts'

/**
 * Makes the `require` of SDK bundles. It gives libraries that do in an isolate what Node's modules do, and in the place
 * of those that reach outside what is enough for bundles to load.
 */
export function createRequire(crypto: WebCrypto): (name: unknown) => unknown {
  const modules = new Map<string, unknown>(
    Object.entries({
      assert,
      buffer,
      crypto: cryptoModule(crypto),
      events: EventEmitter,
      fs,
      http,
      http2,
      https,
      net,
      path,
      process,
      stream,
      tls,
      tty,
      url: { URL, URLSearchParams, ...unavailableIn('url', ['parse', 'format', 'resolve'], 'use URL') },
      util: utilModule(),
      zlib,
    }),
  )
  return (name) => {
    const wanted = String(name).replace(/^node:/, '')
    const found = modules.get(wanted)
    if (found !== undefined) return found
    const error = new Error(`Cannot find module '${wanted}': here are only ${[...modules.keys()].join(', ')}`)
    throw Object.assign(error, { code: 'MODULE_NOT_FOUND' })
  }
}

function utilModule(): object {
  const inspect = Object.assign(util.inspect, { custom: Symbol.for('nodejs.util.inspect.custom') })
  return { ...util, inspect, TextDecoder, TextEncoder }
}

function cryptoModule(crypto: WebCrypto): object {
  return {
    webcrypto: crypto,
    getRandomValues: crypto.getRandomValues,
    randomUUID: crypto.randomUUID,
    randomBytes: (size: number) => {
      const bytes = buffer.Buffer.alloc(size)
      const quota = 65_536
      for (let start = 0; start < size; start += quota) crypto.getRandomValues(bytes.subarray(start, start + quota))
      return bytes
    },
    ...unavailableIn(
      'crypto',
      ['createHash', 'createHmac', 'createSign', 'createVerify', 'createCipheriv', 'createDecipheriv'],
      'bundle a library that computes it',
    ),
  }
}
