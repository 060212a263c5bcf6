/** The exit codes of commands; `isobot --help` prints their meaning. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

interface FailureOptions extends ErrorOptions {
  /** The platform's type of the error, for instance `ResourceNotFound`. */
  type?: string
  /** Further data: people see it below the first line, programs as a separate field. */
  details?: Record<string, unknown>
}

/** An error that ends a command. Its message, which is all that people see, names the problem and the next step. */
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

/** The command was tried and failed. */
export function failed(message: string, options?: FailureOptions): Failure {
  return new Failure(exitCodes.failed, message, options)
}

/** The command line is invalid. */
export function misused(message: string, options?: FailureOptions): Failure {
  return new Failure(exitCodes.usage, message, options)
}

/** The platform could not be reached, or does not accept the token. */
export function unreachable(message: string, options?: FailureOptions): Failure {
  return new Failure(exitCodes.unreachable, message, options)
}
