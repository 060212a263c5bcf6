import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    await say([typeof SharedArrayBuffer, typeof WebAssembly, typeof Atomics])
    const Shared = Object.getOwnPropertyNames(globalThis).filter((name) => /shared|wasm|webassembly|atomics/i.test(name))
    await say(Shared.length)`,
  outcome: 'done',
  replies: ['undefined,undefined,undefined', '0'],
})
