import { spawn, type ChildProcess } from 'node:child_process'
import type { OtherProgram } from './command.ts'
import { watchMemory } from './memory.ts'
import { endProcesses, innermostOf } from './processes.ts'
import type { Isolation } from './detect-isolation.ts'

/** Time from the kill of the outermost process until its descriptors are closed on this side, if they still are open. */
const abandonedMilliseconds = 1000

/** An isolated process, and the processes that isolate it from outside. */
export class IsolatedProcess {
  /** Provides standard input, standard error and the channel; emits `close` when no process is left. */
  readonly child: ChildProcess
  readonly #isolation: Isolation
  readonly #dataKilobytes: number
  #inside: number | undefined
  #stopWatching = () => {}

  /**
   * @param dataKilobytes cap on its data
   * @param program the program to run; by default, the one that holds isolates
   */
  constructor(isolation: Isolation, dataKilobytes: number, program?: OtherProgram) {
    const { file, args, options } = isolation.command(dataKilobytes, program)
    this.child = spawn(file, args, options)
    this.child.once('exit', (_code, signal) => {
      if (signal !== null) this.#disconnect()
    })
    this.#isolation = isolation
    this.#dataKilobytes = dataKilobytes
  }

  /** The id of the innermost process, once it runs, in this process's namespace. */
  get pid(): number | undefined {
    return this.#inside ?? this.child.pid
  }

  /** Must be called when the program runs. A process with a JIT is watched from then on. */
  started(outgrown: (kilobytes: number) => void): void {
    if (this.child.pid === undefined) return
    this.#inside = innermostOf(this.child.pid)
    if (this.#isolation.profile !== 'jit') return
    this.#stopWatching = watchMemory(this.#inside, this.#dataKilobytes, outgrown)
  }

  /**
   * A process does not end with `unshare` before it has asked the kernel for that: one that is starting can outlive it, and
   * could no longer be killed. It ends when its descriptors are closed.
   */
  #disconnect(): void {
    const timer = setTimeout(() => {
      for (const stream of this.child.stdio) stream?.destroy()
    }, abandonedMilliseconds)
    this.child.once('close', () => clearTimeout(timer))
  }

  /** Ends the process at once. */
  end(): void {
    this.#stopWatching()
    if (this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null) {
      endProcesses(this.child.pid)
    }
  }
}
