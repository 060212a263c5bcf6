import { parseArgs } from 'node:util'
import { backEnds, type BackEnd } from './back-ends.ts'

export interface Options {
  /** How long each measurement at saturation lasts, its warm-up not counted. */
  seconds: number
  /** Conversations that somebody talks in, one message under way in each. */
  conversations: number
  /** How often each of the two sides is measured, in turn. */
  rounds: number
  backEnds: readonly BackEnd[]
  /** Where profiles of our processes are written; absent: they are not profiled. */
  profileDirectory?: string
}

export const usage = `Usage: npm run bench -- [options]
  --seconds <number>                 length of each measurement (3)
  --conversations <number>           conversations at once (100)
  --rounds <number>                  measurements of each side, in turn (3)
  --backend redis|postgres|both      where jobs and signals live (both)
  --profile <directory>              write CPU profiles of our api and worker there; the figures suffer`

/**
 * Reads the command line.
 *
 * @throws Error saying what is wrong with it
 */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '3' },
      conversations: { type: 'string', default: '100' },
      rounds: { type: 'string', default: '3' },
      backend: { type: 'string', default: 'both' },
      profile: { type: 'string' },
    },
  })
  const chosen = backEnds.filter((name) => values.backend === name || values.backend === 'both')
  if (chosen.length === 0) throw new Error(`--backend must be redis, postgres or both, not '${values.backend}'`)
  return {
    seconds: positive('seconds', values.seconds),
    conversations: positive('conversations', values.conversations),
    rounds: positive('rounds', values.rounds),
    backEnds: chosen,
    ...(values.profile !== undefined && { profileDirectory: values.profile }),
  }
}

function positive(name: string, text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${name} must be a whole number above zero, not '${text}'`)
}
