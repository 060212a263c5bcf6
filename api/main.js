// Plain JavaScript that any Node since 14 can run: an old Node loads no TypeScript and could not report its version.
import { enableCompileCache } from '../shared/process/compile-cache.js'
import { isOldNode } from '../shared/process/old-node.js'

if (!isOldNode('api/main.js')) {
  enableCompileCache()
  void import('./run.ts')
}
