import { pino, type DestinationStream, type Logger } from 'pino'
import { openStandardOutput } from './standard-output.ts'
import { describeError } from './log-error.ts'
import { logFields } from './log-scope.ts'
import { redactor } from './redact.ts'
import { openedTracing } from './tracing.ts'

export type { Logger }

export interface LoggerOptions {
  /** Values to redact from all lines, beside those that are recognised by name or form. */
  secrets?: readonly (string | undefined)[]
  /** The destination of lines; by default standard output. */
  destination?: DestinationStream
}

/**
 * The process's logger: JSON lines, each with the fields of its request or job (`log-scope.ts`), and without secrets.
 *
 * @param name the process: `api`, `worker`
 * @param level pino's levels, or `silent`
 */
export function createLogger(name: string, level: string, { secrets = [], destination }: LoggerOptions = {}): Logger {
  const options = {
    name,
    level,
    mixin: () => ({ ...logFields(), ...traceField() }),
    serializers: { err: describeError, error: describeError },
    // The whole line, since a secret may be in a message, a stack or a field of any depth.
    hooks: { streamWrite: redactor(secrets) },
  }
  return pino(options, destination ?? openStandardOutput())
}

function traceField(): { traceId?: string } {
  const traceId = openedTracing()?.traceId()
  return traceId === undefined ? {} : { traceId }
}
