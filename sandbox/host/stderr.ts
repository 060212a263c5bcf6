import type { ChildProcess } from 'node:child_process'
import type { SandboxLog } from '../protocol/contract.ts'

const chunkCharacters = 2000
const processCharacters = 20_000

/**
 * util-linux's `unshare` prints this whenever its child was killed: it resets the handler of the signal that ended the
 * child, which SIGKILL does not allow. The end of the process is logged elsewhere.
 */
const aboutKills = /^unshare: sigprocmask unblock failed: .*\n?/gm

/** Logs the standard error of a sandbox process, up to a limit; the rest is read and dropped. */
export function logStderr(child: ChildProcess, log: SandboxLog): void {
  let characters = 0
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (chunk: string) => {
    if (characters > processCharacters) return
    characters += chunk.length
    const text = chunk.replace(aboutKills, '').slice(0, chunkCharacters)
    if (text) log('warn', 'A sandbox process wrote to standard error', { pid: child.pid, text })
  })
}
