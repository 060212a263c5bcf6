import type IsolatedVm from 'isolated-vm'
import type { ExternalCopy, Script } from 'isolated-vm'

export type { Context, ExternalCopy, Isolate, Reference, Script, Transferable } from 'isolated-vm'
export type Ivm = typeof IsolatedVm

/** A script with the results of its compilation, which the types of isolated-vm omit. */
export type CompiledScript = Script & { cachedData?: ExternalCopy<ArrayBuffer>; cachedDataRejected?: boolean }

/** Loads the compiled addon by its path: `require` would read files, which this process may not. */
export function loadIsolatedVm(path: string): Ivm {
  const module = { exports: {} as { ivm: Ivm } }
  process.dlopen(module, path)
  return module.exports.ivm
}
