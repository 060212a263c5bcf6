import type { ChildProcess } from 'node:child_process'
import { withoutKillMessage } from '../isolation/kill-message.ts'
import type { SandboxLog } from '../protocol/contract.ts'

const chunkCharacters = 2000
const processCharacters = 20_000

/**
 * Logs the standard error of a sandbox process, up to a limit; the rest is read and dropped. That a process was killed is
 * logged elsewhere.
 */
export function logStderr(child: ChildProcess, log: SandboxLog): void {
  let characters = 0
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (chunk: string) => {
    if (characters > processCharacters) return
    characters += chunk.length
    const text = withoutKillMessage(chunk).slice(0, chunkCharacters)
    if (text) log('warn', 'A sandbox process wrote to standard error', { sandboxPid: child.pid, text })
  })
}
