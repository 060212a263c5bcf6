// Plain JavaScript that any Node since 14 can run: an old one loads no TypeScript file, not even to say that it is old.
import { enableCompileCache } from '../shared/process/compile-cache.js'
import { isOldNode } from '../shared/process/old-node.js'

if (!isOldNode('migrations/migrate.js')) {
  enableCompileCache()
  void import('./release.ts')
}
