import { EventEmitter } from 'events'
import { globalsNamed } from '../prelude/globals.ts'
import { unavailable } from '../prelude/unavailable.ts'
import type { Require } from '../isolate/platform.ts'
import { findNodeModule, nodeModuleNames, type NodeModuleName } from './table.ts'

/** Members that code reads or calls while it loads, by module. */
export const special: Partial<Record<NodeModuleName, (require: Require) => object>> = {
  fs: () => ({
    existsSync: () => false,
    readFileSync: (path: unknown) => notFound('open', path),
    statSync: (path: unknown, options?: { throwIfNoEntry?: boolean }) =>
      options?.throwIfNoEntry === false ? undefined : notFound('stat', path),
    lstatSync: (path: unknown) => notFound('lstat', path),
    accessSync: (path: unknown) => notFound('access', path),
    realpath: withNative('realpath'),
    realpathSync: withNative('realpathSync'),
    promises: fsPromises,
  }),
  'fs/promises': () => fsPromises,
  tty: () => ({ isatty: () => false }),
  worker_threads: () => ({
    isMainThread: true,
    parentPort: null,
    workerData: null,
    threadId: 0,
    resourceLimits: {},
    // There is no other thread to which an object could go.
    markAsUncloneable: () => {},
    markAsUntransferable: () => {},
    isMarkedAsUntransferable: () => false,
    ...globalsNamed(['BroadcastChannel', 'MessageChannel', 'MessagePort']),
  }),
  domain: () => ({ Domain: EventEmitter, active: null }),
  // Packages of ES modules ask it for packages that need not be installed, and for native code.
  module: (require) => ({
    builtinModules: nodeModuleNames,
    isBuiltin: (name: unknown) => typeof name === 'string' && findNodeModule(name) !== undefined,
    createRequire: () => require,
  }),
  inspector: () => ({ url: () => undefined }),
  cluster: () => ({ isMaster: true, isPrimary: true, isWorker: false, workers: {} }),
}

const promised =
  'access appendFile chmod chown copyFile cp lstat mkdir mkdtemp open opendir readFile readdir readlink realpath rename rm rmdir stat symlink truncate unlink utimes watch writeFile'

/** Their failures are rejections, as in Node. */
const fsPromises = Object.fromEntries(
  promised.split(' ').map((name) => {
    const refuse = unavailable(`fs.promises.${name}`, 'isolates have no files')
    return [name, async () => refuse()]
  }),
)

/** Code that looks for an optional file finds none. */
function notFound(call: string, path: unknown): never {
  const name = typeof path === 'string' ? path : '(file)'
  const error = new Error(`ENOENT: no such file or directory, ${call} '${name}': isolates have no files`)
  throw Object.assign(error, { code: 'ENOENT', errno: -2, syscall: call, path: name })
}

function withNative(name: string): object {
  return Object.assign(unavailable(`fs.${name}`), { native: unavailable(`fs.${name}.native`) })
}
