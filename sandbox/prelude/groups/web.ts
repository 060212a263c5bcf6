import type { Prelude } from '../../isolate/platform.ts'
import { defineWeb } from '../define-web.ts'

/** Defines the lightweight globals of the web. */
export const install: Prelude = (platform) => {
  defineWeb(platform)
  return undefined
}
