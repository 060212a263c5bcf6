import type { Provide } from '../provide.ts'
import { webAssembly } from '../web-assembly.ts'

/** Defines what packages with a tokenizer in WebAssembly need. The tokenizer itself is evaluated on its first use. */
export const provide: Provide = () => {
  Object.defineProperty(globalThis, 'WebAssembly', { value: webAssembly, writable: true, configurable: true })
  return {}
}
