import { toFailureReason } from '../protocol/protocol.ts'
import type { Failure } from './run-handle.ts'

/** Above the limits to which the process itself cuts these texts. */
const characters = { name: 100, message: 4000, stack: 20_000, hook: 200 }
export const reasonCharacters = 500

type FailedFrame = Record<keyof typeof characters | 'reason', string>

/** Reads the failure of a run that a process reports, and cuts overlong texts. */
export function readFailure(frame: FailedFrame): Failure {
  const [name, message, stack, hook] = (['name', 'message', 'stack', 'hook'] as const).map((field) =>
    frame[field].slice(0, characters[field]),
  ) as [string, string, string, string]
  const error = { name, message, ...(stack !== '' && { stack }) }
  return { reason: toFailureReason(frame.reason), error, ...(hook !== '' && { hook }) }
}
