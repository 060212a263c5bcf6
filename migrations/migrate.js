// Plain JavaScript that any Node since 14 can run: an old one loads no TypeScript file, not even to say that it is old.
import { enableCompileCache } from '../shared/process/compile-cache.js'
import { refusesNode } from '../shared/process/needed-node.js'
import { resolveOwnModules } from '../shared/process/own-modules.js'

if (!refusesNode('migrations/migrate.js')) {
  enableCompileCache()
  resolveOwnModules()
  void import('./release.ts')
}
