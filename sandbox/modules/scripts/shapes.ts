/** The modules that only have the names of Node's: bundles load, and their use throws an error with the name. */

import { modulesOf, nodeModules, type NodeModuleName } from '../table.ts'
import { complete, type Provide } from '../provide.ts'
import { special } from '../special-shapes.ts'

/** Modules whose `promises` is another module. */
const withPromises: Partial<Record<NodeModuleName, NodeModuleName>> = {
  dns: 'dns/promises',
  readline: 'readline/promises',
}

export const provide: Provide = (_platform, shapes, require) => {
  const made = new Map<NodeModuleName, object>()
  function make(name: NodeModuleName): object {
    const known = made.get(name)
    if (known) return known
    const promises = withPromises[name]
    const module = special[name]?.(require) ?? {}
    if (promises) Object.assign(module, { promises: make(promises) })
    made.set(name, module)
    return complete(name, module, shapes[name], insteadOf(name))
  }
  return Object.fromEntries(modulesOf('shapes').map((name) => [name, () => make(name)]))
}

function insteadOf(name: NodeModuleName): string {
  return name === 'module' ? 'a bundle is one file' : nodeModules[name].note
}
