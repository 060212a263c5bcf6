import { findAncestry, untilLauncherGone, untilOwnerGone, type Ancestry } from '#shared/process/launchers.ts'

/** npm and the terminal both pass on one Ctrl-C, and a terminal that closes says so more than once. */
const sameMilliseconds = 1000

export interface InterruptionOptions {
  /** Called when a person asks once more. The process ends at once unless something else is given. */
  again?: () => void
  /** Nobody reads standard input: the end of it may tell that whoever started this process is gone. */
  isInputUnread?: boolean
}

/**
 * A signal that aborts at the first Ctrl-C, SIGTERM or SIGHUP, and when npm or another launcher of this process has
 * ended, so that a command that goes on until it is stopped ends in order. Disposing takes the listeners away.
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
  void untilLeft(isInputUnread).then(() => controller.abort())
  return { signal: controller.signal, [Symbol.dispose]: stopListening }
}

async function untilLeft(isInputUnread: boolean): Promise<void> {
  const ancestry = await findAncestry()
  if (wasLeftOnItsWay(ancestry)) return
  await Promise.race([untilLauncherGone(ancestry), ...(isInputUnread ? [untilOwnerGone(ancestry)] : [])])
}

/** npm was ended before this process looked for it: the parent of npm's script is npm, or the shell that npm runs. */
function wasLeftOnItsWay({ launchers }: Ancestry): boolean {
  const { npm_lifecycle_script: script = '' } = process.env
  return launchers.length === 0 && process.ppid === 1 && /^(exec )?node cli\/(start|dev)\.ts[^&;|]*$/.test(script)
}
