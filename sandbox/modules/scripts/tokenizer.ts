import type { Provide } from '../provide.ts'
import { openTokenizer } from '../tokenizer.ts'
import { defineProgram } from '../web-assembly.ts'

/** Defines what packages with a tokenizer in WebAssembly need. The tokenizer itself is evaluated on its first use. */
export const provide: Provide = () => {
  defineProgram(openTokenizer)
  return {}
}
