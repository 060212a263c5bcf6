import { hostile } from '../hostile.ts'
import { reach } from '../reach.ts'

/** Memory that no limit covers, threads, code between turns, and doors of V8 and of its shells. */
export default hostile({
  before: reach,
  body: `
    const names = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'ShadowRealm', 'Worker', 'importScripts', 'gc', 'print', 'load', 'quit', 'd8', 'ivm', '_ivm', 'Deno', 'Bun', 'process', 'require', 'module', 'global',
      'defineBundle', 'inside', 'prelude', 'install', 'open', 'dispatch', 'post', '$0', '$1', 'Reference', 'Isolate', 'Callback', 'ExternalCopy', 'XMLHttpRequest', 'EventSource', 'localStorage', 'indexedDB', 'caches']
    const globals = globalThis
    await say(names.filter((name) => name in globals || typeof globals[name] !== 'undefined').join())
    const found = new Set()
    reach({ client, logger, globalThis, bytes: new Uint8Array(1), buffer: new ArrayBuffer(1), weak: new WeakRef({}), async: async () => {} }, (value) => {
      if (typeof value === 'function' && ['SharedArrayBuffer', 'Module', 'Memory', 'Table', 'Instance', 'growable', 'grow', 'resize', 'transfer', 'waitAsync', 'Reference', 'ExternalCopy', 'Callback'].includes(value.name)) found.add(value.name)
      if (typeof value === 'function' && value.name === 'FinalizationRegistry' && /native code/.test(Function.prototype.toString.call(value))) found.add(value.name)
      if (['WebAssembly', 'Atomics', 'SharedArrayBuffer'].includes(value[Symbol.toStringTag])) found.add(value[Symbol.toStringTag])
    })
    await say([...found].join())
    await say('Promise' in globals)`,
  outcome: 'done',
  replies: ['nothing', 'nothing', 'true'],
})
