import { EventEmitter } from 'events'
import path from 'path-browserify'
import util from 'util'
import { assert } from './assert.ts'
import { globalsOf } from './groups.ts'
import { createCryptoModule } from './node-crypto.ts'
import { process } from './process.ts'
import { fs, http, http2, https, net, os, stream, tls, tty, zlib } from './node-stubs.ts'
import { unavailableIn } from './unavailable.ts'

/**
 * Makes the `require` of SDK bundles. It provides libraries that do in an isolate what Node's modules do, and stubs for
 * modules that reach outside, sufficient for bundles to load.
 */
export function createRequire(): (name: unknown) => unknown {
  const modules = new Map<string, unknown>(
    Object.entries({
      assert,
      buffer: bufferModule(),
      crypto: createCryptoModule(),
      events: EventEmitter,
      fs,
      http,
      http2,
      https,
      net,
      os,
      path,
      process,
      stream,
      'stream/web': webStreams(),
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
    const error = new Error(`Cannot find module '${wanted}': isolates provide only ${[...modules.keys()].join(', ')}`)
    throw Object.assign(error, { code: 'MODULE_NOT_FOUND' })
  }
}

function utilModule(): object {
  const inspect = Object.assign(util.inspect, { custom: Symbol.for('nodejs.util.inspect.custom') })
  return { ...util, inspect, TextDecoder, TextEncoder }
}

function bufferModule(): object {
  const largest = 2 ** 31 - 1
  return { Buffer, SlowBuffer: Buffer, Blob, File, atob, btoa, constants: { MAX_LENGTH: largest }, kMaxLength: largest }
}

/** Streams exist only if the bundle names them. */
function webStreams(): object {
  const globals = globalThis as unknown as Record<string, unknown>
  return Object.fromEntries(globalsOf.streams.map((name) => [name, globals[name]]))
}
