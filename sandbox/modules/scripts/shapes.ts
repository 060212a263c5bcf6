/** The modules that only have the names of Node's: bundles load, and their use throws an error with the name. */

import { modulesOf, nodeModules } from '../table.ts'
import { complete, type Provide } from '../provide.ts'
import { special } from '../special-shapes.ts'

export const provide: Provide = (_platform, shapes) =>
  Object.fromEntries(
    modulesOf('shapes').map((name) => [
      name,
      () => complete(name, special[name]?.() ?? {}, shapes[name], nodeModules[name].note),
    ]),
  )
