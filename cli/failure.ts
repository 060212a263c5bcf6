/** What the exit codes of commands mean; `isobot --help` prints it. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

interface FailureOptions extends ErrorOptions {
  /** What the platform called it, for instance `ResourceNotFound`. */
  type?: string
  /** A part of the message that people see below the first line, and programs as a field of its own. */
  details?: Record<string, unknown>
}

/** An error that ends a command: its message says what was wrong and what to do next, and is all that people see. */
export class Failure extends Error {
  override name = 'Failure'
  readonly exitCode: ExitCode
  readonly type: string | undefined
  readonly details: Record<string, unknown> | undefined

  constructor(exitCode: ExitCode, message: string, { type, details, ...options }: FailureOptions = {}) {
    super(message, options)
    this.exitCode = exitCode
    this.type = type
    this.details = details
  }
}

/** What was asked for was tried and did not work. */
export function failed(message: string, options?: FailureOptions): Failure {
  return new Failure(exitCodes.failed, message, options)
}

/** What was asked for makes no sense as it was asked. */
export function misused(message: string, options?: FailureOptions): Failure {
  return new Failure(exitCodes.usage, message, options)
}

/** The platform could not be reached, or does not accept the token. */
export function unreachable(message: string, options?: FailureOptions): Failure {
  return new Failure(exitCodes.unreachable, message, options)
}
