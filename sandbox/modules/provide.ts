import type { Platform, Require } from '../isolate/platform.ts'
import { unavailable } from '../prelude/unavailable.ts'
import type { Shape, Shapes } from './shapes.ts'

/** Makes the modules of a script, each when a bundle requires it first; `require` finds those of all scripts. */
export type Provide = (platform: Platform, shapes: Shapes, require: Require) => Record<string, () => unknown>

/**
 * Adds what Node's module has and this one has not: constants, and functions that throw an error with their name. So
 * code that only mentions a function loads.
 *
 * @param instead the alternative, for the message
 */
export function complete<Module extends object>(
  name: string,
  module: Module,
  { functions, values }: Shape = { functions: [], values: {} },
  instead?: string,
): Module {
  const whole = module as Record<string, unknown>
  for (const key of Object.keys(values)) if (!Object.hasOwn(whole, key)) whole[key] = values[key]
  for (const key of functions) if (!(key in whole)) whole[key] = unavailable(`${name}.${key}`, instead)
  return module
}
