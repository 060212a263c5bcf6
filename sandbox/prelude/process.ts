import { defineGlobals } from './globals.ts'
import { unavailable } from './unavailable.ts'

/** The Node version that SDK bundles see; they only check that one exists. */
const nodeVersion = '24.0.0'

/** `process.env`. `install` fills it later, because libraries read it while they load. */
export const environment: Record<string, string> = {}

/** The `process` of bundles. */
export const process = {
  title: 'node',
  env: environment,
  versions: { node: nodeVersion, v8: '13.6', openssl: '3.0' },
  version: `v${nodeVersion}`,
  release: { name: 'node' },
  config: { variables: {}, target_defaults: {} },
  features: {},
  platform: 'linux',
  arch: 'x64',
  pid: 1,
  ppid: 0,
  argv: ['node', 'bot.js'],
  argv0: 'node',
  execArgv: [],
  execPath: 'node',
  exitCode: undefined,
  stdin: { fd: 0, isTTY: false },
  stdout: { fd: 1, isTTY: false, write: (text: unknown) => print('info', text) },
  stderr: { fd: 2, isTTY: false, write: (text: unknown) => print('error', text) },
  cwd: () => '/',
  umask: () => 0o22,
  uptime: () => performance.now() / 1000,
  hrtime: Object.assign(hrtime, { bigint: () => BigInt(Math.round(performance.now())) * 1_000_000n }),
  memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
  cpuUsage: () => ({ user: 0, system: 0 }),
  nextTick: (callback: (...values: unknown[]) => void, ...values: unknown[]) => {
    queueMicrotask(() => callback(...values))
  },
  // No event is ever emitted: a failure ends the run.
  on: listen,
  once: listen,
  off: listen,
  addListener: listen,
  removeListener: listen,
  removeAllListeners: listen,
  prependListener: listen,
  emit: () => false,
  listeners: () => [],
  listenerCount: () => 0,
  emitWarning: () => {},
  exit: unavailable('process.exit', 'a run ends when its handler returns or throws'),
  kill: unavailable('process.kill'),
  abort: unavailable('process.abort'),
  chdir: unavailable('process.chdir'),
  binding: unavailable('process.binding'),
  dlopen: unavailable('process.dlopen'),
}

function listen(): typeof process {
  return process
}

/** Clocks have a resolution of a millisecond. */
function hrtime(since: [number, number] = [0, 0]): [number, number] {
  const nanoseconds = Math.round(performance.now()) * 1_000_000 - since[0] * 1e9 - since[1]
  return [Math.floor(nanoseconds / 1e9), nanoseconds - Math.floor(nanoseconds / 1e9) * 1e9]
}

function print(level: 'info' | 'error', text: unknown): true {
  console[level](String(text).replace(/\n$/, ''))
  return true
}

defineGlobals({ process, global: globalThis })
