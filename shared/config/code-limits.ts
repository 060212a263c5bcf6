import { closedObject, type Infer } from '../schema.ts'

/** How one limit of code is configured. */
interface LimitRule {
  /**
   * The operator's variables are `SANDBOX_<variable>`, the default of bots, and `SANDBOX_MAX_<variable>`, the maximum.
   */
  variable: string
  /** The range that an operator may set. */
  range: readonly [min: number, max: number]
  /** The default of `SANDBOX_<variable>`. */
  usual: number
  /** The default of `SANDBOX_MAX_<variable>`. */
  highest: number
  description: string
}

/** The limits of handling one event, and how they are configured. */
export const limitRules = {
  wallMilliseconds: {
    variable: 'WALL_MS',
    range: [100, 600_000],
    usual: 60_000,
    highest: 300_000,
    description: 'Elapsed time of one event, waiting included.',
  },
  cpuMilliseconds: {
    variable: 'CPU_MS',
    range: [10, 60_000],
    usual: 2000,
    highest: 10_000,
    description: 'Processor time of one event, waiting excluded.',
  },
  loadMilliseconds: {
    variable: 'LOAD_MS',
    range: [10, 60_000],
    usual: 2000,
    highest: 10_000,
    description: 'Processor time to evaluate the module, once per isolate.',
  },
  memoryMegabytes: {
    variable: 'HEAP_MB',
    range: [8, 128],
    usual: 64,
    highest: 128,
    description: 'Heap of the isolate, which the concurrent events of a bot share.',
  },
  hostCalls: {
    variable: 'HOST_CALLS',
    range: [1, 100_000],
    usual: 1000,
    highest: 10_000,
    description: 'Calls of the platform’s operations.',
  },
  hostCallsAtOnce: {
    variable: 'HOST_CALLS_AT_ONCE',
    range: [1, 256],
    usual: 32,
    highest: 64,
    description: 'Concurrent calls of the platform’s operations; further calls wait.',
  },
  fetches: {
    variable: 'FETCHES',
    range: [0, 10_000],
    usual: 50,
    highest: 500,
    description: 'Outbound requests.',
  },
  fetchesAtOnce: {
    variable: 'FETCHES_AT_ONCE',
    range: [1, 64],
    usual: 6,
    highest: 16,
    description: 'Concurrent outbound requests; further requests wait.',
  },
  connectionsAtOnce: {
    variable: 'CONNECTIONS_AT_ONCE',
    // The memory for the connections of all events of a bot in a worker is fixed, and that of 128 connections.
    range: [0, 128],
    usual: 20,
    highest: 64,
    description: 'Open connections of `net` and `tls`; a further connection is refused.',
  },
  fetchMilliseconds: {
    variable: 'FETCH_MS',
    range: [100, 600_000],
    usual: 30_000,
    highest: 300_000,
    description:
      'Time of one outbound request, with its redirects and the body of its response. For a streamed response: the time ' +
      'until its headers arrive, and the longest pause between two parts of its body.',
  },
  fetchMegabytes: {
    variable: 'FETCH_MB',
    // Responses are held whole in memory, and the memory for the responses of all bots of a worker is fixed.
    range: [1, 10],
    usual: 10,
    highest: 10,
    description: 'Size of one response, decompressed.',
  },
  logLines: {
    variable: 'LOG_LINES',
    range: [1, 10_000],
    usual: 1000,
    highest: 10_000,
    description: 'Lines of log; further lines are dropped.',
  },
  logCharacters: {
    variable: 'LOG_CHARACTERS',
    range: [1024, 4 * 1024 * 1024],
    usual: 256 * 1024,
    highest: 1024 * 1024,
    description: 'Characters of log; further characters are dropped.',
  },
  resultCharacters: {
    variable: 'RESULT_CHARACTERS',
    range: [1024, 8 * 1024 * 1024],
    usual: 1024 * 1024,
    highest: 4 * 1024 * 1024,
    description: 'Length of an action’s output, as JSON.',
  },
  timers: {
    variable: 'TIMERS',
    range: [0, 10_000],
    usual: 64,
    highest: 1000,
    description: 'Concurrent timers.',
  },
} as const satisfies Record<string, LimitRule>

export type LimitName = keyof typeof limitRules
export type CodeLimits = Record<LimitName, number>

/** Names and rules as pairs, for code that treats all limits alike. */
export const limitEntries = Object.entries(limitRules) as [LimitName, LimitRule][]

const properties = Object.fromEntries(
  limitEntries.map(([name, { range, description }]) => {
    return [name, { type: 'integer', minimum: range[0], maximum: range[1], description }] as const
  }),
) as unknown as { [name in LimitName]: { type: 'integer' } }

/** A bot's own limits, as the Admin API accepts and returns them. */
export const limits = {
  ...closedObject({}, properties),
  description:
    'Limits of the code that runs for the bot, up to the operator’s maximum. The operator’s default applies to each ' +
    'absent limit.',
} as const

export type OwnLimits = Infer<typeof limits>

/** The limits by the errors that name them; the sandbox makes these errors, and user code cannot. */
const limitsByError: Record<string, LimitName> = {
  TimeoutError: 'wallMilliseconds',
  CpuLimitError: 'cpuMilliseconds',
  LoadLimitError: 'loadMilliseconds',
  MemoryLimitError: 'memoryMegabytes',
  HostCallLimitError: 'hostCalls',
  NetworkLimitError: 'fetches',
  ResultLimitError: 'resultCharacters',
  TimerLimitError: 'timers',
}

/**
 * The part of a failure message that names the limit to raise, in brackets and with a leading space; empty when the
 * failure was caused by no limit.
 *
 * @param reason the outcome's; a failure of reason `error` is the code's own, by any name
 */
export function limitHint(reason: string, errorName: string): string {
  const name = limitOf(reason, errorName)
  return name ? ` (to raise it, ${remedyOf(name)})` : ''
}

/** The same for the evaluation of an upload. That of an integration belongs to no bot, and the operator's default applies. */
export function uploadLimitHint(reason: string, errorName: string): string {
  const name = limitOf(reason, errorName)
  if (!name) return ''
  return ` (to raise it, ${remedyOf(name)}; for an integration, the operator sets SANDBOX_${limitRules[name].variable})`
}

function limitOf(reason: string, errorName: string): LimitName | undefined {
  return reason !== 'error' && Object.hasOwn(limitsByError, errorName) ? limitsByError[errorName] : undefined
}

function remedyOf(name: LimitName): string {
  return `set limits.${name} in updateBot, up to the operator’s SANDBOX_MAX_${limitRules[name].variable}`
}
