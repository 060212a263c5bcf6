import type { ChildProcess } from 'node:child_process'
import type { SandboxLog } from './contract.ts'

const chunkCharacters = 2000
const processCharacters = 20_000

/** Reports what a sandbox process writes to its standard error, up to a limit; the rest is read and dropped. */
export function logStderr(child: ChildProcess, log: SandboxLog): void {
  let characters = 0
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (chunk: string) => {
    if (characters > processCharacters) return
    characters += chunk.length
    log('warn', 'A sandbox process complains', { pid: child.pid, text: chunk.slice(0, chunkCharacters) })
  })
}
