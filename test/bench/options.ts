import { parseArgs } from 'node:util'
import { backEnds, type BackEnd } from './back-ends.ts'
import { listenersPerConversation } from './system.ts'

/** The default benchmarks; each may be omitted. */
const usual = [
  'straight-line',
  'listeners',
  'bundles',
  'sandbox',
  'endings',
  'schemas',
  'fairness',
  'uploads',
  'tables',
  'files',
  'search',
  'flows',
  'handover',
  'webchat',
  'models',
  'workers',
  'histories',
] as const
/**
 * These run only on request: `memory` takes as long as its events do, `peers` fetches 240 MB.
 */
const benchmarks = [...usual, 'peers', 'memory'] as const
type Benchmark = (typeof benchmarks)[number]

export interface Options {
  benchmarks: readonly Benchmark[]
  /** Open streams, a multiple of the listeners of each conversation. */
  listeners: number
  /** Messages to the listeners. */
  messages: number
  /** Duration of each measurement at saturation, without its warm-up. */
  seconds: number
  /** Conversations with one message in flight each. */
  conversations: number
  /** Events that a worker handles while its memory is watched. */
  events: number
  /** Measurements of each of the two sides, in turn. */
  rounds: number
  backEnds: readonly BackEnd[]
  /** Folder for the profiles of our processes; if absent, they are not profiled. */
  profileDirectory?: string
}

export const usage = `Usage: npm run bench -- [options]
  --only <benchmark>                 straight-line, listeners, bundles, sandbox, endings, schemas,
                                     fairness, uploads, tables, files, search, flows,
                                     handover, webchat, models, workers,
                                     histories
                                     (all of these), peers or memory
  --seconds <number>                 length of each measurement (3)
  --conversations <number>           conversations at once (100)
  --rounds <number>                  measurements of each side, in turn (3)
  --backend redis|postgres|both      where jobs and signals live (both)
  --listeners <number>               streams that are open at once, in whole hundreds (10000)
  --messages <number>                messages to listeners, one at a time (500)
  --events <number>                  messages while the memory is watched (100000)
  --profile <directory>              write CPU profiles of our api and worker there; the figures suffer`

/**
 * Parses the command line.
 *
 * @throws Error with the fault of the command line
 */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '3' },
      conversations: { type: 'string', default: '100' },
      rounds: { type: 'string', default: '3' },
      listeners: { type: 'string', default: '10000' },
      messages: { type: 'string', default: '500' },
      events: { type: 'string', default: '100000' },
      only: { type: 'string' },
      backend: { type: 'string', default: 'both' },
      profile: { type: 'string' },
    },
  })
  const chosen = backEnds.filter((name) => values.backend === name || values.backend === 'both')
  if (chosen.length === 0) throw new Error(`--backend must be redis, postgres or both, not '${values.backend}'`)
  const wanted = values.only === undefined ? usual : benchmarks.filter((name) => values.only === name)
  if (wanted.length === 0) throw new Error(`--only must be one of ${benchmarks.join(', ')}, not '${values.only}'`)
  return {
    benchmarks: wanted,
    listeners: hundreds('listeners', values.listeners),
    messages: positive('messages', values.messages),
    events: positive('events', values.events),
    seconds: positive('seconds', values.seconds),
    conversations: positive('conversations', values.conversations),
    rounds: positive('rounds', values.rounds),
    backEnds: chosen,
    ...(values.profile !== undefined && { profileDirectory: values.profile }),
  }
}

function hundreds(name: string, text: string): number {
  const number = positive(name, text)
  if (number % listenersPerConversation === 0) return number
  throw new Error(`--${name} must be a multiple of ${listenersPerConversation}, not '${text}'`)
}

function positive(name: string, text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${name} must be a whole number above zero, not '${text}'`)
}
