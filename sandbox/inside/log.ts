import type { LogLine } from '../contract.ts'
import { format } from './format.ts'
import { readJsonLine } from './json-line.ts'
import { freeze, NativeError, sliceText } from './primordials.ts'
import type { KernelRun, Post } from './run.ts'
import { botFrames } from './stack.ts'

const lineCharacters = 4096

export type WriteLog = (run: KernelRun | undefined, level: LogLine['level'], values: ArrayLike<unknown>) => void

/** Writes log lines, each at once: those before an endless loop survive it. Outside of runs there is no log. */
export function createWriteLog(post: Post): WriteLog {
  return (run, level, values) => {
    if (run === undefined || run.ended) return
    const { shared, limits } = run
    if (shared.logIsCut) return
    const left = limits.logCharacters - shared.logCharacters
    const text = toLine(values)
    if (shared.logLines < limits.logLines && left > 0) {
      const line = sliceText(text, 0, left)
      shared.logLines += 1
      shared.logCharacters += line.length
      post('log', run.id, level, line)
      if (line.length === text.length) return
    }
    shared.logIsCut = true
    const allowed = `${limits.logLines} lines and ${limits.logCharacters} characters`
    post('log', run.id, 'warn', `The log is cut here: a run may log ${allowed}`)
  }
}

function toLine(values: ArrayLike<unknown>): string {
  try {
    const text = format(values)
    return text.length > lineCharacters ? `${sliceText(text, 0, lineCharacters - 1)}…` : text
  } catch {
    return '[It could not be shown]'
  }
}

/** The `logger` that hooks and actions get. */
export function createLogger(run: KernelRun, write: WriteLog): object {
  return freeze({
    debug: (...values: unknown[]) => write(run, 'debug', values),
    info: (...values: unknown[]) => write(run, 'info', values),
    warn: (...values: unknown[]) => write(run, 'warn', values),
    error: (...values: unknown[]) => write(run, 'error', values),
  })
}

/**
 * The global `console`, which logs for the run whose turn it is.
 *
 * @param readsJson whether lines that the SDK's logger wrote as JSON are read
 */
export function createConsole(current: () => KernelRun | undefined, writeLine: WriteLog, readsJson: boolean): object {
  const write: WriteLog = (run, level, values) => {
    const line = readsJson ? readJsonLine(values) : undefined
    if (line === undefined) writeLine(run, level, values)
    else writeLine(run, line.level ?? level, [line.message])
  }
  const log = (...values: unknown[]) => write(current(), 'info', values)
  return {
    log,
    info: log,
    debug: (...values: unknown[]) => write(current(), 'debug', values),
    warn: (...values: unknown[]) => write(current(), 'warn', values),
    error: (...values: unknown[]) => write(current(), 'error', values),
    trace: (...values: unknown[]) => {
      const { stack } = new NativeError('trace')
      write(current(), 'debug', ['%s\n%s', format(values), botFrames(stack ?? '')])
    },
  }
}
