/**
 * The additional globals of the public SDK's bundles, and of others that require modules of Node. The modules are scripts of
 * their own (`sandbox/modules/`).
 */

// Imported first, because libraries read `process` while they load.
import { environment } from '../process.ts'
import type { Platform, Prelude } from '../../isolate/platform.ts'
import { defineGlobals } from '../globals.ts'
import { installTimers } from '../timers.ts'

/** Defines the globals. */
export const install: Prelude = (platform) => {
  fillEnvironment(platform)
  installTimers()
  // Packages take an environment that has it for a browser.
  Reflect.deleteProperty(globalThis, 'self')
  defineGlobals({
    // Parameters of a module in Node. As globals, they leave these names to code that declares them.
    __filename: '/bot.js',
    __dirname: '/',
  })
  return undefined
}

function fillEnvironment({ environment: given, token }: Platform): void {
  Object.assign(environment, given)
  if (!('BP_TOKEN' in given)) return
  Object.defineProperty(environment, 'BP_TOKEN', { get: token, enumerable: true, configurable: true })
}
