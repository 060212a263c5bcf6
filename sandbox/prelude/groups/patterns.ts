import { URLPattern } from 'urlpattern-polyfill/urlpattern'
import type { Prelude } from '../../isolate/platform.ts'
import { defineGlobals } from '../globals.ts'

/** Defines `URLPattern`. */
export const install: Prelude = () => {
  defineGlobals({ URLPattern })
  return undefined
}
