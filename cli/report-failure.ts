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
  const message = explained(error)
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

/** Remedies for errors of the operating system, by their codes: their messages name the file at most. */
const remedies: Record<string, string> = {
  ENOSPC: 'free space on the disk, or choose a folder on another one',
  EDQUOT: 'the quota of the disk is used up: free space on it, or choose a folder on another one',
  EROFS: 'choose a folder on a file system that can be written to',
  EACCES: 'choose a file that this user may use, or change its permissions',
  EMFILE: 'raise the limit of open files: ulimit -n 4096',
}

function explained(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const remedy = 'code' in error && 'syscall' in error ? remedies[String(error.code)] : undefined
  return remedy === undefined ? error.message : `${error.message}: ${remedy}`
}
