import type { LogLine } from '../protocol/contract.ts'
import { readJsonLine } from './json-line.ts'
import { format } from './format.ts'
import { inspectForLog } from './inspect/inspect.ts'
import { attempt, type WriteLog } from './log.ts'
import {
  create,
  defineProperty,
  NativeError,
  NativeWeakMap,
  now,
  record,
  toText,
  weakMapGet,
  weakMapSet,
} from './primordials.ts'
import type { KernelRun } from './run.ts'
import { botFrames } from './stack.ts'
import { showTable } from './table.ts'

/** The console state of one run; runs do not share it. */
interface ConsoleState {
  indentation: string
  counts: Record<string, number>
  /** Start times of the running timers, in milliseconds since 1970. */
  times: Record<string, number>
}

const deepestGroup = 20

/**
 * The global `console`, which logs for the run whose turn it is.
 *
 * @param readsJson whether to parse the JSON lines of the SDK's logger
 */
export function createConsole(current: () => KernelRun | undefined, writeLine: WriteLog, readsJson: boolean): object {
  const states = new NativeWeakMap<KernelRun, ConsoleState>()

  const stateOf = (run: KernelRun): ConsoleState => {
    const found = weakMapGet(states, run)
    if (found !== undefined) return found
    const state = record({
      indentation: '',
      counts: create(null) as Record<string, number>,
      times: create(null) as Record<string, number>,
    })
    weakMapSet(states, run, state)
    return state
  }

  /** Runs `work` with the console state of the run whose turn it is. Does nothing outside of runs. */
  const inRun = (work: (state: ConsoleState) => void) => {
    const run = current()
    if (run !== undefined) work(stateOf(run))
  }

  const write = (level: LogLine['level'], values: ArrayLike<unknown>) => {
    const run = current()
    const line = readsJson ? readJsonLine(values) : undefined
    const indentation = run === undefined ? '' : (weakMapGet(states, run)?.indentation ?? '')
    if (line === undefined) writeLine(run, level, values, indentation)
    else writeLine(run, line.level ?? level, [line.message], indentation)
  }

  const log = (...values: unknown[]) => write('info', values)

  const group = (...values: unknown[]) => {
    if (values.length > 0) write('info', values)
    inRun((state) => {
      if (state.indentation.length < 2 * deepestGroup) state.indentation += '  '
    })
  }

  const logTime = (label: unknown, values: unknown[], ends: boolean) =>
    inRun(({ times }) => {
      const name = toLabel(label)
      const startedAt = times[name]
      if (startedAt === undefined) return write('warn', [`No timer is running for '${name}'`])
      if (ends) delete times[name]
      const more = values.length === 0 ? '' : ` ${attempt(() => format(values))}`
      write('info', ['%s', `${name}: ${now() - startedAt}ms${more}`])
    })

  const methods = {
    log,
    info: log,
    dirxml: log,
    debug: (...values: unknown[]) => write('debug', values),
    warn: (...values: unknown[]) => write('warn', values),
    error: (...values: unknown[]) => write('error', values),
    dir: (value: unknown, options: unknown) => write('info', ['%s', attempt(() => inspectForLog(value, {}, options))]),
    table: (data: unknown, columns: unknown) => write('info', ['%s', attempt(() => showTable(data, columns))]),
    trace: (...values: unknown[]) => {
      const { stack } = new NativeError('trace')
      write('debug', ['%s\n%s', attempt(() => format(values)), botFrames(stack ?? '')])
    },
    assert: (condition: unknown, ...values: unknown[]) => {
      if (condition) return
      const said = attempt(() => format(values))
      write('error', ['%s', said === '' ? 'Assertion failed' : `Assertion failed: ${said}`])
    },
    count: (label: unknown) =>
      inRun(({ counts }) => {
        const name = toLabel(label)
        const count = (counts[name] ?? 0) + 1
        counts[name] = count
        write('info', ['%s', `${name}: ${count}`])
      }),
    countReset: (label: unknown) => inRun(({ counts }) => delete counts[toLabel(label)]),
    group,
    groupCollapsed: group,
    groupEnd: () =>
      inRun((state) => {
        state.indentation = outdented(state.indentation)
      }),
    time: (label: unknown) =>
      inRun(({ times }) => {
        times[toLabel(label)] ??= now()
      }),
    timeLog: (label: unknown, ...values: unknown[]) => logTime(label, values, false),
    timeEnd: (label: unknown) => logTime(label, [], true),
    // The log has nothing to clear, and isolates have no profiler.
    clear: ignore,
    profile: ignore,
    profileEnd: ignore,
    timeStamp: ignore,
  }
  defineProperty(methods, Symbol.toStringTag, { value: 'console', configurable: true })
  return methods
}

function ignore(): void {}

function toLabel(label: unknown): string {
  return label === undefined ? 'default' : toText(label)
}

function outdented(indentation: string): string {
  let rest = ''
  for (let length = 2; length < indentation.length; length += 2) rest += '  '
  return rest
}
