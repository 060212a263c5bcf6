import type { ToProcess } from '../protocol/protocol.ts'
import type { CrashAttribution } from './crash-attribution.ts'
import type { Part } from './part-reader.ts'
import type { RunHandle } from './run-handle.ts'

/**
 * The sending process, as the handler of a frame sees it. A method that returns a boolean returns false when the frame
 * has no effect.
 */
export interface FrameProcess {
  readonly attribution: CrashAttribution
  /** The run with this id, while it is in flight. */
  find(run: string): RunHandle | undefined
  /** Sends the frame that `work` resolves to, unless the run or the process has ended by then. */
  respond(run: string, work: () => Promise<ToProcess>): void
  /** Sends a part of a stream; resolves when another one can be sent. */
  sendPart(run: string, stream: string, part: Part): Promise<void> | undefined
  /** Asks for so many parts of the body of a request. */
  wantParts(run: string, fetch: string, parts: number): void
  /** Removes an ended run: its further frames have no effect. */
  ended(run: RunHandle): void
  started(): boolean
  answered(heartbeat: { rss: number; warm: number; spare: number; cold: number }): boolean
  sendCode(bundle: string): boolean
  sendEnvironment(bundle: string): boolean
  stuck(thread: { bundle: string; reason: string; turn: number; waited: number }): void
}
