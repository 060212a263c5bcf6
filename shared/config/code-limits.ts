import type { Infer } from '../schema.ts'

/** How one limit of code is set. */
interface LimitRule {
  /** The operator's variables are `SANDBOX_<variable>` for what holds unless a bot has its own, `SANDBOX_MAX_<variable>`. */
  variable: string
  /** The least and the most that an operator may set. */
  range: readonly [least: number, most: number]
  /** What holds unless something else is set. */
  usual: number
  /** The most that a bot may be given unless the operator says otherwise. */
  highest: number
  description: string
}

/** The limits of handling one event, and how they are set. */
export const limitRules = {
  wallMilliseconds: {
    variable: 'WALL_MS',
    range: [100, 600_000],
    usual: 60_000,
    highest: 300_000,
    description: 'From start to end, waiting included.',
  },
  cpuMilliseconds: {
    variable: 'CPU_MS',
    range: [10, 60_000],
    usual: 2000,
    highest: 10_000,
    description: 'Processor time, waiting excluded.',
  },
  loadMilliseconds: {
    variable: 'LOAD_MS',
    range: [10, 60_000],
    usual: 2000,
    highest: 10_000,
    description: 'Processor time for the module to be evaluated, once for each isolate.',
  },
  memoryMegabytes: {
    variable: 'HEAP_MB',
    range: [8, 128],
    usual: 64,
    highest: 128,
    description: 'Heap of the isolate, which the events that a bot handles at one time share.',
  },
  hostCalls: {
    variable: 'HOST_CALLS',
    range: [1, 100_000],
    usual: 1000,
    highest: 10_000,
    description: 'Calls of the platform.',
  },
  hostCallsAtOnce: {
    variable: 'HOST_CALLS_AT_ONCE',
    range: [1, 256],
    usual: 32,
    highest: 64,
    description: 'Calls of the platform under way at one time; further ones wait.',
  },
  fetches: {
    variable: 'FETCHES',
    range: [0, 10_000],
    usual: 50,
    highest: 500,
    description: 'Requests to the world outside.',
  },
  fetchesAtOnce: {
    variable: 'FETCHES_AT_ONCE',
    range: [1, 64],
    usual: 6,
    highest: 16,
    description: 'Requests under way at one time; further ones wait.',
  },
  fetchMilliseconds: {
    variable: 'FETCH_MS',
    range: [100, 600_000],
    usual: 30_000,
    highest: 300_000,
    description:
      'Of one request, its redirects and the body of its answer included; where that streams, until its head has come and then without more of it.',
  },
  fetchMegabytes: {
    variable: 'FETCH_MB',
    // Answers are held whole, and what all of a worker's bots may hold of them is fixed.
    range: [1, 10],
    usual: 10,
    highest: 10,
    description: 'Of the answer to one request, decompressed.',
  },
  logLines: {
    variable: 'LOG_LINES',
    range: [1, 10_000],
    usual: 1000,
    highest: 10_000,
    description: 'Lines of log; what comes after them is dropped.',
  },
  logCharacters: {
    variable: 'LOG_CHARACTERS',
    range: [1024, 4 * 1024 * 1024],
    usual: 256 * 1024,
    highest: 1024 * 1024,
    description: 'Characters of log; what comes after them is dropped.',
  },
  resultCharacters: {
    variable: 'RESULT_CHARACTERS',
    range: [1024, 8 * 1024 * 1024],
    usual: 1024 * 1024,
    highest: 4 * 1024 * 1024,
    description: 'Of what an action returns, as JSON.',
  },
  timers: {
    variable: 'TIMERS',
    range: [0, 10_000],
    usual: 64,
    highest: 1000,
    description: 'Timers that wait at one time.',
  },
} as const satisfies Record<string, LimitRule>

export type LimitName = keyof typeof limitRules
export type CodeLimits = Record<LimitName, number>

/** Names and rules, for whoever does the same for each limit. */
export const limitEntries = Object.entries(limitRules) as [LimitName, LimitRule][]

const properties = Object.fromEntries(
  limitEntries.map(([name, { range, description }]) => {
    return [name, { type: 'integer', minimum: range[0], maximum: range[1], description }] as const
  }),
) as unknown as { [name in LimitName]: { type: 'integer' } }

/** Limits of a bot's own, as the Admin API takes and shows them. */
export const limits = {
  type: 'object',
  additionalProperties: false,
  properties,
  description:
    'Limits of the code that runs for the bot, up to what the operator allows; what is not named is as the operator set it.',
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
 * What a failure says for who wants to raise the limit that was met, in brackets and with a space before it; empty when
 * there is no such limit.
 *
 * @param reason the outcome's; a failure of reason `error` is the code's own, whatever it calls itself
 */
export function limitHint(reason: string, errorName: string): string {
  const name = reason !== 'error' && Object.hasOwn(limitsByError, errorName) ? limitsByError[errorName] : undefined
  if (!name) return ''
  return ` (to raise it, set limits.${name} in updateBot, up to the operator’s SANDBOX_MAX_${limitRules[name].variable})`
}
