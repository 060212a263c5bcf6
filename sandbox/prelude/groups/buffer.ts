/** Node's `Buffer`, which much code for the web also uses. */

import type { Prelude } from '../../isolate/platform.ts'
import { withBase64Url } from '../buffer.ts'
import { defineGlobals } from '../globals.ts'

/** Defines the global. */
export const install: Prelude = () => {
  defineGlobals({ Buffer: withBase64Url() })
  return undefined
}
