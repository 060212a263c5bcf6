import { defineGlobals } from './globals.ts'
import { unavailable } from './unavailable.ts'

/** The Node version that SDK bundles see; they only check that one exists. */
const nodeVersion = '24.0.0'

/** `process.env`. `install` fills it later, because libraries read it while they load. */
export const environment: Record<string, string> = {}

/** The `process` of bundles. It has no `Symbol.toStringTag`: with one, axios would choose its adapter for sockets. */
export const process = {
  env: environment,
  versions: { node: nodeVersion },
  version: `v${nodeVersion}`,
  platform: 'linux',
  arch: 'x64',
  pid: 1,
  argv: [],
  execArgv: [],
  stdout: { fd: 1, isTTY: false },
  stderr: { fd: 2, isTTY: false },
  cwd: () => '/',
  uptime: () => performance.now() / 1000,
  nextTick: (callback: (...values: unknown[]) => void, ...values: unknown[]) => {
    queueMicrotask(() => callback(...values))
  },
  // No event is ever emitted: a failure ends the run.
  on: listen,
  once: listen,
  off: listen,
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

defineGlobals({ process, global: globalThis })
