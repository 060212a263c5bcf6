import type { Duplex } from 'node:stream'
import { findAddon } from '../isolation/addon.ts'
import { openChannel, type Channel } from '../protocol/channel.ts'
import type { ClientOperation, SandboxLog } from '../protocol/contract.ts'
import type { ProcessMemory } from './memory.ts'
import type { Programs } from './programs.ts'
import { maximumBytesFromProcess, type ToProcess } from '../protocol/protocol.ts'
import { logStderr } from './stderr.ts'
import type { Isolation } from '../isolation/detect-isolation.ts'
import { IsolatedProcess } from '../isolation/isolated-process.ts'

export interface StartOptions {
  programs: Programs
  operations: ClientOperation[]
  isolation: Isolation
  memory: ProcessMemory
  log: SandboxLog
}

export interface StartedEvents {
  onFrame(frame: unknown, bytes: number): void
  /** Called when the process violates the protocol. */
  onBreach(reason: string): void
  /** Called, perhaps repeatedly, when the process has ended or cannot be started. */
  onGone(reason: string): void
  /** Called with the exit status when the process and its descriptors are closed. */
  onClosed(code: number | null, signal: NodeJS.Signals | null): void
}

/** The exit of a process gives a better reason than the end of its channel, and follows it. */
const goneMilliseconds = 200

/**
 * Starts an isolated sandbox process, and sends it its program. The process sends `ready` after it has read the
 * program.
 */
export function startProcess(
  { programs, operations, isolation, memory, log }: StartOptions,
  events: StartedEvents,
): { process: IsolatedProcess; channel: Channel<ToProcess> } {
  const process = new IsolatedProcess(isolation, memory.dataKilobytes)
  const { child } = process
  child.on('error', (error) => events.onGone(`it could not be started: ${error.message}`))
  child.on('close', (code, signal) => events.onClosed(code, signal))
  logStderr(child, log)
  const channel = openChannel<ToProcess>(child.stdio[3] as Duplex, {
    maximumBytes: maximumBytesFromProcess,
    flat: true,
    onFrame: (frame, bytes) => events.onFrame(frame, bytes),
    onBroken: (reason, how) => {
      if (how === 'breach') events.onBreach(reason)
      else setTimeout(() => events.onGone(reason), goneMilliseconds)
    },
  })
  // The process may have ended before it has read its program.
  child.stdin?.on('error', () => {})
  child.stdin?.end(programs.process)
  const { inside, groups } = programs
  const { softBytes, isolates } = memory
  channel.send({ type: 'start', addon: findAddon(), inside, groups, operations, softBytes, isolates })
  return { process, channel }
}
