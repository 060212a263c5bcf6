import { defineGlobals } from './globals.ts'
import { unavailable } from './unavailable.ts'

/** A Node that bundles of the SDK take this for: what they ask is that there be a version. */
const nodeVersion = '24.0.0'

/** `process.env`; filled by `install`, while libraries look at it before. */
export const environment: Record<string, string> = {}

/**
 * What bundles find as `process`. It has no tag of its own: axios chooses its adapter by it, and would choose sockets.
 */
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
  // Nothing is ever announced: what goes wrong ends the run.
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
