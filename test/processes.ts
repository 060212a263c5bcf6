import { join } from 'node:path'
import { startChild, type Child } from '../cli/children.ts'
import type { Platform } from './platform.ts'

const root = join(import.meta.dirname, '..')

/** Starts a real process of a platform, as a platform's process manager would. Whoever starts it stops it. */
export function startProcess(
  platform: Platform,
  name: 'api' | 'worker',
  environment: NodeJS.ProcessEnv = {},
): Promise<Child> {
  return startChild(name, [process.execPath, join(root, name, 'main.ts')], {
    directory: root,
    environment: { ...platform.environment, ...environment },
  })
}
