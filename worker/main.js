// Plain JavaScript that any Node since 14 can run: an old Node loads no TypeScript and could not report its version.
import { enableCompileCache } from '../shared/process/compile-cache.js'
import { refusesNode } from '../shared/process/needed-node.js'
import { resolveOwnModules } from '../shared/process/own-modules.js'

if (!refusesNode('worker/main.js')) {
  enableCompileCache()
  resolveOwnModules()
  void import('./run.ts')
}
