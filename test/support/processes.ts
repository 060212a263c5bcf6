import { join } from 'node:path'
import { startChild, type Child } from '../../cli/start/children.ts'
import type { Platform } from './platform.ts'

const root = join(import.meta.dirname, '..', '..')

/** Starts a real process of a platform, as a process manager would. The caller has to stop it. */
export function startProcess(
  platform: Platform,
  name: 'api' | 'worker',
  environment: NodeJS.ProcessEnv = {},
): Promise<Child> {
  return startChild(name, [process.execPath, join(root, name, 'main.js')], {
    directory: root,
    environment: { ...platform.environment, ...environment },
  })
}

/** Processes that a test starts, and that are ended together. */
export class Processes {
  readonly #children: Child[] = []

  async start(...options: Parameters<typeof startProcess>): Promise<Child> {
    const child = await startProcess(...options)
    this.#children.push(child)
    return child
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.splice(0).map((child) => child.stop()))
  }
}
