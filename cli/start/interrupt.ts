import { findAncestry, untilLauncherGone, untilOwnerGone, type Ancestry } from '#shared/process/launchers.ts'

/** npm and the terminal both forward one Ctrl-C, and a closing terminal sends several signals. */
const sameMilliseconds = 1000

export interface InterruptionOptions {
  /** Called at a second Ctrl-C or SIGTERM. By default that signal ends the process at once. */
  again?: () => void
  /** Whether the process does not read standard input, so that its end can signal the exit of the process's owner. */
  isInputUnread?: boolean
}

/**
 * A signal that aborts at the first Ctrl-C, SIGTERM or SIGHUP, and when npm or another launcher of this process has
 * exited, so that a long-running command stops in order. Disposing removes the listeners.
 */
export function untilInterrupted({ again, isInputUnread = false }: InterruptionOptions = {}): {
  signal: AbortSignal
} & Disposable {
  const controller = new AbortController()
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  let interruptedAt: number | undefined
  const stopListening = () => {
    for (const name of names) process.off(name, interrupt)
  }
  function interrupt(name: NodeJS.Signals): void {
    interruptedAt ??= Date.now()
    if (!controller.signal.aborted) return controller.abort()
    if (name === 'SIGHUP' || Date.now() - interruptedAt < sameMilliseconds) return
    if (again) return again()
    stopListening()
    process.kill(process.pid, name)
  }
  for (const name of names) process.on(name, interrupt)
  void untilLauncherExited(isInputUnread).then(() => controller.abort())
  return { signal: controller.signal, [Symbol.dispose]: stopListening }
}

async function untilLauncherExited(isInputUnread: boolean): Promise<void> {
  const ancestry = await findAncestry()
  if (hadLostLauncher(ancestry)) return
  await Promise.race([untilLauncherGone(ancestry), ...(isInputUnread ? [untilOwnerGone(ancestry)] : [])])
}

/** Whether npm exited before this process looked for it. The parent of an npm script is npm or its shell, not init. */
function hadLostLauncher({ launchers }: Ancestry): boolean {
  const { npm_lifecycle_script: script = '' } = process.env
  return launchers.length === 0 && process.ppid === 1 && /^(exec )?node cli\/(start|dev)\.ts[^&;|]*$/.test(script)
}
