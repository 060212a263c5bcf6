import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** A process of a platform, with access to its log. */
export interface LoggedProcess {
  /** The lines of its log so far. */
  lines(): Record<string, unknown>[]
  text(): string
  /** Stops it gracefully. */
  stop(): Promise<void>
}

/** Starts an api or a worker as a process of its own, which ends with this one. */
export function startLoggedProcess(name: 'api' | 'worker', environment: NodeJS.ProcessEnv): LoggedProcess {
  const child = spawn(process.execPath, [join(root, name, 'main.js')], {
    cwd: root,
    env: { ...environment, ISOBOT_PARENT: 'stdin' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  return {
    text: () => output,
    lines: () =>
      output
        .slice(0, output.lastIndexOf('\n') + 1)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    async stop() {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      await closed
    },
  }
}
