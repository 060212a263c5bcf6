/**
 * The additional environment of the public SDK's bundles: globals of Node, and the modules that the SDK, its HTTP
 * client and libraries commonly bundled with them require.
 */

// Imported first, because libraries read `process` while they load.
import { environment } from '../process.ts'
import type { Platform, Prelude } from '../../isolate/platform.ts'
import { defineGlobals } from '../globals.ts'
import { createRequire } from '../modules.ts'

/** Defines the globals, and returns the bundle's `require`. */
export const install: Prelude = (platform) => {
  fillEnvironment(platform)
  defineGlobals({
    setImmediate: (callback: unknown, ...values: unknown[]) =>
      setTimeout(callback as (...values: unknown[]) => void, 0, ...values),
    clearImmediate: (id: number) => clearTimeout(id),
  })
  return createRequire()
}

function fillEnvironment({ environment: given, token }: Platform): void {
  Object.assign(environment, given)
  Object.defineProperty(environment, 'BP_TOKEN', { get: token, enumerable: true, configurable: true })
}
