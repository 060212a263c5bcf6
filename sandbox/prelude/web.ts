/** What native bundles find around them that use the globals of the web. */

import type { Prelude } from '../inside/platform.ts'
import { defineWeb } from './define-web.ts'

/** Defines the globals. There is no `require`. */
export const install: Prelude = (platform) => {
  defineWeb(platform)
  return undefined
}
