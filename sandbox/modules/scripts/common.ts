/** The light modules, which others build on. */

import path from 'path-browserify'
import { globalsNamed } from '../../prelude/globals.ts'
import { globalsOf, refusedGlobals } from '../../prelude/groups.ts'
import { wait, waitForImmediate, type TimerOptions } from '../../prelude/timers.ts'
import { process } from '../aliases/process.ts'
import { createAsyncHooks } from '../async-hooks.ts'
import { diagnosticsChannel } from '../diagnostics-channel.ts'
import { createEvents } from '../events.ts'
import { os } from '../os.ts'
import { complete, type Provide } from '../provide.ts'

export const provide: Provide = (platform, shapes) => {
  const make = (name: string, module: object) => () => complete(name, module, shapes[name])
  const makePath = make('path', pathModule())
  return {
    async_hooks: make('async_hooks', createAsyncHooks(platform.token)),
    buffer: () => complete('buffer', bufferModule(), shapes['buffer']),
    diagnostics_channel: make('diagnostics_channel', diagnosticsChannel),
    events: () => complete('events', createEvents(), shapes['events']),
    os: make('os', os),
    path: makePath,
    'path/posix': makePath,
    'path/win32': makePath,
    perf_hooks: () => complete('perf_hooks', performanceModule(), shapes['perf_hooks']),
    process: () => process,
    'stream/web': () => complete('stream/web', webStreams(), shapes['stream/web']),
    timers: () => complete('timers', timersModule(), shapes['timers']),
    'timers/promises': () => complete('timers/promises', timersPromises, shapes['timers/promises']),
  }
}

/** The package puts no dot before an extension, and has no `win32`. */
function pathModule(): object {
  const { format } = path as unknown as { format(parts: Record<string, string>): string }
  const formatPath = (parts: Record<string, string>) => {
    const hasBareExtension = typeof parts?.['ext'] === 'string' && /^[^.]/.test(parts['ext'])
    return format(hasBareExtension ? { ...parts, ext: `.${parts['ext']}` } : parts)
  }
  return Object.assign(path, { format: formatPath, toNamespacedPath: (given: string) => given, win32: path })
}

function bufferModule(): object {
  const largest = 2 ** 31 - 1
  const constants = { MAX_LENGTH: largest, MAX_STRING_LENGTH: largest }
  const limits = { constants, kMaxLength: largest, kStringMaxLength: largest, INSPECT_MAX_BYTES: 50 }
  return { Buffer, SlowBuffer: Buffer, Blob, File, atob, btoa, isUtf8, isAscii, ...limits }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

function isAscii(bytes: Uint8Array | ArrayBuffer): boolean {
  const given = ArrayBuffer.isView(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : Buffer.from(bytes)
  return given.every((byte) => byte < 128)
}

/** undici asks for the second branch to have chunks of its own, which matters only to code that changes them. */
function ReadableStreamTee(stream: ReadableStream): [ReadableStream, ReadableStream] {
  return stream.tee()
}

function webStreams(): object {
  return { ...globalsNamed([...globalsOf.streams, ...globalsOf.compression]), ReadableStreamTee }
}

function performanceModule(): object {
  const names = [...globalsOf.rare, ...refusedGlobals].filter((name) => name.startsWith('Performance'))
  return { performance, ...globalsNamed(names) }
}

function timersModule(): object {
  return {
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    setImmediate,
    clearImmediate,
    promises: timersPromises,
  }
}

const timersPromises = {
  setTimeout: wait,
  setImmediate: waitForImmediate,
  async *setInterval(milliseconds?: number, value?: unknown, options?: TimerOptions) {
    for (;;) yield wait(milliseconds, value, options)
  },
  scheduler: {
    wait: (milliseconds?: number, options?: TimerOptions) => wait(milliseconds, undefined, options),
    yield: () => waitForImmediate(),
  },
}
