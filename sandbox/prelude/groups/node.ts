/**
 * The additional globals of the public SDK's bundles, and of others that require modules of Node. The modules are scripts of
 * their own (`sandbox/modules/`).
 */

// Imported first, because libraries read `process` while they load.
import { environment, process } from '../process.ts'
import type { Platform, Prelude, Require } from '../../isolate/platform.ts'
import { defineGlobals } from '../globals.ts'
import { installTimers } from '../timers.ts'

/** Defines the globals. */
export const install: Prelude = (platform, require) => {
  fillEnvironment(platform)
  Object.assign(process, { getBuiltinModule: (name: unknown) => findModule(name, require) })
  installTimers()
  // Packages take an environment that has it for a browser.
  Reflect.deleteProperty(globalThis, 'self')
  defineGlobals({
    // Parameters of a module in Node. As globals, they leave these names to code that declares them.
    __filename: '/bot.js',
    __dirname: '/',
    // Packages list the properties of all built-in objects. Those of this one need memory that threads share, which isolates lack.
    Atomics: {},
  })
  return undefined
}

/** A module of Node that the bundle names in a call. */
function findModule(name: unknown, require: Require): unknown {
  try {
    return require(name)
  } catch {
    return undefined
  }
}

function fillEnvironment({ environment: given, token }: Platform): void {
  Object.assign(environment, given)
  if (!('BP_TOKEN' in given)) return
  Object.defineProperty(environment, 'BP_TOKEN', { get: token, enumerable: true, configurable: true })
}
