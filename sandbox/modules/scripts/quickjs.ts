import type { Provide } from '../provide.ts'
import { openQuickJs } from '../quickjs.ts'
import { defineProgram } from '../web-assembly.ts'

/** Defines what packages need that run code in QuickJS. The engine itself is evaluated on its first use. */
export const provide: Provide = () => {
  defineProgram(openQuickJs)
  return {}
}
