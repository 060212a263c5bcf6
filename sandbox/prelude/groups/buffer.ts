/** Node's `Buffer`, which much code for the web also uses. */

import type { Prelude } from '../../isolate/platform.ts'
import { completeBuffer } from '../buffer.ts'
import { defineGlobals } from '../globals.ts'

/** Defines the global. */
export const install: Prelude = () => {
  defineGlobals({ Buffer: completeBuffer() })
  return undefined
}
