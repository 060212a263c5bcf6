import { spawn, type ChildProcess } from 'node:child_process'
import type { OtherProgram } from '../host/command.ts'
import { watchMemory } from './memory.ts'
import { endProcesses, innermostOf } from './processes.ts'
import type { Isolation } from './detect-isolation.ts'

/** An isolated process, and the processes outside that isolate it. */
export class IsolatedProcess {
  /** Its standard input, standard error and channel; it closes when nothing of the process is left. */
  readonly child: ChildProcess
  readonly #isolation: Isolation
  readonly #dataKilobytes: number
  #inside: number | undefined
  #stopWatching = () => {}

  /**
   * @param dataKilobytes the most data that it may have
   * @param program what runs in it, unless it is to hold isolates
   */
  constructor(isolation: Isolation, dataKilobytes: number, program?: OtherProgram) {
    const { file, args, options } = isolation.command(dataKilobytes, program)
    this.child = spawn(file, args, options)
    this.#isolation = isolation
    this.#dataKilobytes = dataKilobytes
  }

  /** The process that runs inside, once it runs, in the numbers that this one sees. */
  get pid(): number | undefined {
    return this.#inside ?? this.child.pid
  }

  /** To be called when its program runs. With a JIT, it is watched from then on. */
  started(outgrown: (kilobytes: number) => void): void {
    if (this.child.pid === undefined) return
    this.#inside = innermostOf(this.child.pid)
    if (this.#isolation.profile !== 'jit') return
    this.#stopWatching = watchMemory(this.#inside, this.#dataKilobytes, outgrown)
  }

  /** Ends it at once, whatever it does. */
  end(): void {
    this.#stopWatching()
    if (this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null) {
      endProcesses(this.child.pid)
    }
  }
}
