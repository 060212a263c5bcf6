import { spawn } from 'node:child_process'

/** The outcome of a command. */
export interface CommandOutcome {
  /** Null when a signal ended it. */
  exitCode: number | null
  output: string
}

/** A command that is running. */
export interface RunningCommand {
  /** Waits for text in the output. @throws Error with the output when the command ends before, or after the time limit */
  awaitOutput(pattern: RegExp): Promise<RegExpExecArray>
  /** Types a line. */
  type(line: string): void
  /** Ends the command as Ctrl-C does. */
  interrupt(): void
  /** The output so far. */
  output(): string
  ended: Promise<CommandOutcome>
}

const timeoutMilliseconds = 120_000
const pollMilliseconds = 50

/** Starts a script of Node. It is killed after two minutes. */
export function startCommand(
  script: string,
  args: readonly string[],
  { directory, environment }: { directory: string; environment: NodeJS.ProcessEnv },
): RunningCommand {
  const child = spawn(process.execPath, [script, ...args], { cwd: directory, env: environment, detached: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  /** As a terminal does it: the processes that the command has started get the signal too. */
  function signalGroup(signal: NodeJS.Signals): void {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    process.kill(-child.pid, signal)
  }
  const timer = setTimeout(() => signalGroup('SIGKILL'), timeoutMilliseconds)
  let hasEnded = false
  const ended = new Promise<CommandOutcome>((resolve, reject) => {
    child.once('error', reject)
    // Not `close`: processes that the command has started may keep its output open.
    child.once('exit', (exitCode) => {
      hasEnded = true
      clearTimeout(timer)
      resolve({ exitCode, output })
    })
  })
  return {
    ended,
    output: () => output,
    async awaitOutput(pattern) {
      for (;;) {
        const found = pattern.exec(output)
        if (found) return found
        if (hasEnded) throw new Error(`The command has ended without ${String(pattern)}: ${output.slice(-2000)}`)
        await new Promise((resolve) => setTimeout(resolve, pollMilliseconds))
      }
    },
    type: (line) => void child.stdin.write(`${line}\n`),
    interrupt: () => signalGroup('SIGINT'),
  }
}
