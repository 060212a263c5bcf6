import { inspect, styleText } from 'node:util'
import { exitCodes, Failure, type ExitCode } from './failure.ts'
import { withoutControlCharacters } from './output.ts'

/**
 * Prints the error that ended a command to standard error: a line of JSON for programs, else the message, and with
 * `isVerbose` all details. Standard output carries results only.
 * @returns the exit code
 */
export function reportFailure(
  error: unknown,
  { isJson, isVerbose }: { isJson: boolean; isVerbose: boolean },
): ExitCode {
  const failure = error instanceof Failure ? error : undefined
  const exitCode = failure?.exitCode ?? exitCodes.failed
  const message = error instanceof Error ? error.message : String(error)
  if (isJson) {
    const { type, details } = failure ?? {}
    const body = { exitCode, message, ...(type !== undefined && { type }), ...(details && { details }) }
    process.stderr.write(`${JSON.stringify({ error: { ...body, ...(isVerbose && { stack: inspect(error) }) } })}\n`)
  } else {
    const label = styleText('red', 'error:', { stream: process.stderr })
    const hint = failure || isVerbose ? '' : '\nRun the command again with --verbose for all details'
    process.stderr.write(`${label} ${withoutControlCharacters(isVerbose ? inspect(error) : message)}${hint}\n`)
  }
  return exitCode
}
