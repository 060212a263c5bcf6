import { inspectWith } from '../isolate/inspect/inspect.ts'
import { showTable } from '../isolate/table.ts'
import { codedError } from '../prelude/node-errors.ts'
import { formatWithOptions } from './format.ts'

interface Target {
  write(text: string, written?: (error?: Error | null) => void): unknown
  once?(event: 'error', listener: () => void): unknown
  removeListener?(event: 'error', listener: () => void): unknown
}

interface Options {
  stdout: Target
  stderr?: Target | undefined
  ignoreErrors?: boolean
  groupIndentation?: number
  inspectOptions?: object
  colorMode?: boolean | 'auto'
}

const levels = { out: ['log', 'info', 'debug', 'dirxml'], err: ['error', 'warn'] } as const

function ignore(): void {}

/** Node's `Console`, which writes to streams of the code. Its methods are own properties, as code passes them on. */
function createConsole(given: Options | Target, stderr?: Target, ignoresErrors = true): object {
  const isOptions = typeof (given as Partial<Target> | undefined)?.write !== 'function'
  const options: Options = isOptions
    ? (given as Options)
    : { stdout: given as Target, stderr, ignoreErrors: ignoresErrors }
  const { stdout, stderr: errors = stdout, ignoreErrors = true, groupIndentation = 2, ...shape } = options ?? {}
  for (const [name, stream] of Object.entries({ stdout, stderr: errors })) {
    if (typeof (stream as Partial<Target> | undefined)?.write !== 'function') {
      throw codedError(
        'ERR_CONSOLE_WRITABLE_STREAM',
        `Console expects a writable stream instance for ${name}`,
        TypeError,
      )
    }
  }
  const inspectOptions = { ...shape.inspectOptions, ...(shape.colorMode === true && { colors: true }) }
  const counts = new Map<string, number>()
  const times = new Map<string, number>()
  let indentation = ''

  const write = (stream: Target, text: string) => {
    const lines = indentation === '' ? text : text.replaceAll(/^/gm, indentation)
    if (!ignoreErrors) return void stream.write(`${lines}\n`)
    // A stream that fails has no listener but those of the code.
    stream.once?.('error', ignore)
    try {
      stream.write(`${lines}\n`, (error) => {
        if (error) stream.once?.('error', ignore)
      })
    } catch {
      // As Node does.
    } finally {
      stream.removeListener?.('error', ignore)
    }
  }
  const shown = (values: unknown[]) => formatWithOptions(inspectOptions, ...values)
  const log = (...values: unknown[]) => write(stdout, shown(values))
  const fail = (...values: unknown[]) => write(errors, shown(values))
  const group = (...values: unknown[]) => {
    if (values.length > 0) log(...values)
    indentation += ' '.repeat(groupIndentation)
  }
  const tellTime = (label: unknown, values: unknown[], ends: boolean) => {
    const name = String(label)
    const start = times.get(name)
    if (start === undefined) return
    if (ends) times.delete(name)
    log(`${name}: ${performance.now() - start}ms`, ...values)
  }
  return {
    ...Object.fromEntries(levels.out.map((name) => [name, log])),
    ...Object.fromEntries(levels.err.map((name) => [name, fail])),
    dir: (value: unknown, shape?: object) =>
      write(stdout, inspectWith(value, { customInspect: false, ...inspectOptions, ...shape }, {})),
    table: (data: unknown, columns?: unknown) => write(stdout, showTable(data, columns)),
    trace: (...values: unknown[]) => {
      const { stack = '' } = new Error('Trace')
      fail(`Trace${values.length > 0 ? `: ${shown(values)}` : ''}\n${stack.split('\n').slice(2).join('\n')}`)
    },
    assert: (condition: unknown, ...values: unknown[]) => {
      if (condition) return
      const [first, ...others] = values
      if (typeof first === 'string') fail(`Assertion failed: ${first}`, ...others)
      else fail('Assertion failed', ...values)
    },
    count: (label: unknown = 'default') => {
      const name = String(label)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      log(`${name}: ${counts.get(name)}`)
    },
    countReset: (label: unknown = 'default') => void counts.delete(String(label)),
    group,
    groupCollapsed: group,
    groupEnd: () => {
      indentation = indentation.slice(groupIndentation)
    },
    time: (label: unknown = 'default') => void times.set(String(label), performance.now()),
    timeLog: (label: unknown = 'default', ...values: unknown[]) => tellTime(label, values, false),
    timeEnd: (label: unknown = 'default') => tellTime(label, [], true),
    clear: () => {},
  }
}

/** Code may call the class without `new`. */
export function Console(this: unknown, ...values: Parameters<typeof createConsole>): object {
  return Object.assign(Object.create(Console.prototype) as object, createConsole(...values))
}
