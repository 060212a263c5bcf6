// Plain JavaScript that any Node since 14 can run; `main.ts`, which the Procfile names, is a link to it.
import { isOldNode } from '../shared/process/old-node.js'

if (!isOldNode('worker/main.ts')) void import('./run.ts')
