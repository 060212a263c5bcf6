// Plain JavaScript that any Node since 14 can run: an old one loads no TypeScript file, not even to say that it is old.
import { isOldNode } from '../shared/process/old-node.js'

if (!isOldNode('api/main.js')) void import('./run.ts')
