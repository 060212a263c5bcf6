import type { ToProcess } from '../protocol/protocol.ts'
import type { CrashAttribution } from './crash-attribution.ts'
import type { Part } from './part-reader.ts'
import type { RunHandle } from './run-handle.ts'

/** What the handler of a frame sees of the process that sent it. Each method returns false when the frame is useless. */
export interface FrameProcess {
  readonly attribution: CrashAttribution
  /** The run of this id, while it is in flight. */
  find(run: string): RunHandle | undefined
  /** Sends what `work` resolves to, unless the run or the process is over by then. */
  respond(run: string, work: () => Promise<ToProcess>): void
  /** Sends a part of a stream; resolves when another one can be sent. */
  sendPart(run: string, stream: string, part: Part): Promise<void> | undefined
  /** The run is over: further frames of it are useless. */
  ended(run: RunHandle): void
  started(): boolean
  answered(heartbeat: { rss: number; warm: number; spare: number; cold: number }): boolean
  sendCode(bundle: string): boolean
  stuck(thread: { bundle: string; reason: string; turn: number; waited: number }): void
}
