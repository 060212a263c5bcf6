import type { LogLine } from '../protocol/contract.ts'
import { format } from './format.ts'
import { unreadable } from './inspect/inspect.ts'
import { freeze, indexIn, sliceText } from './primordials.ts'
import type { KernelRun } from './run.ts'
import type { Post } from './shared.ts'
import { redact } from './secrets.ts'

const lineCharacters = 4096

/** @param indentation prefix of each line; empty by default */
export type WriteLog = (
  run: KernelRun | undefined,
  level: LogLine['level'],
  values: ArrayLike<unknown>,
  indentation?: string,
) => void

/**
 * Writes log lines, each at once, so that the lines before an endless loop survive it. Outside of runs, lines are
 * dropped.
 */
export function createWriteLog(post: Post): WriteLog {
  return (run, level, values, indentation = '') => {
    if (run === undefined || run.ended) return
    const { shared, limits } = run
    if (shared.logIsCut) return
    const left = limits.logCharacters - shared.logCharacters
    const text = toLine(values, indentation)
    if (shared.logLines < limits.logLines && left > 0) {
      const line = sliceText(text, 0, left)
      shared.logLines += 1
      shared.logCharacters += line.length
      post('log', run.id, level, line)
      if (line.length === text.length) return
    }
    shared.logIsCut = true
    const allowed = `${limits.logLines} lines and ${limits.logCharacters} characters`
    post('log', run.id, 'warn', `logs: The log is truncated here: a run may log ${allowed}`)
  }
}

function toLine(values: ArrayLike<unknown>, indentation: string): string {
  return attempt(() => cut(indent(cut(redact(format(values))), indentation)))
}

/** Returns the shown text, or a note that the value cannot be shown: reading a value may throw. */
export function attempt(show: () => string): string {
  try {
    return show()
  } catch {
    return unreadable
  }
}

function cut(text: string): string {
  return text.length > lineCharacters ? `${sliceText(text, 0, lineCharacters - 1)}…` : text
}

function indent(text: string, indentation: string): string {
  if (indentation === '') return text
  let indented = indentation
  let start = 0
  for (let at = indexIn(text, '\n'); at !== -1; at = indexIn(text, '\n', start)) {
    indented += sliceText(text, start, at + 1) + indentation
    start = at + 1
  }
  return indented + sliceText(text, start)
}

/** The `logger` that hooks and actions get. */
export type Logger = Readonly<Record<LogLine['level'], (...values: unknown[]) => void>>

export function createLogger(run: KernelRun, write: WriteLog): Logger {
  return freeze({
    debug: (...values: unknown[]) => write(run, 'debug', values),
    info: (...values: unknown[]) => write(run, 'info', values),
    warn: (...values: unknown[]) => write(run, 'warn', values),
    error: (...values: unknown[]) => write(run, 'error', values),
  })
}
