import type { JsonObject, LogLine, Outcome } from '#sandbox/protocol/contract.ts'
import { firstPosition, toSourceStack, type SourceMapIndex } from '#sandbox/compiler/source-map.ts'
import { limitHint } from '#shared/config/code-limits.ts'
import { failed } from '../failure.ts'
import type { DryRunCall, DryRunFetch } from './host.ts'

export interface DryRunResult {
  status: 'done' | 'failed'
  /** The output of an action, or whether a hook stopped the pipeline. */
  result?: unknown
  /** `event.state` after the run. */
  state?: JsonObject
  error?: {
    reason: string
    /** The hook, action or card that failed, where it is known: `flow/node/card` for a card. */
    hook?: string
    name: string
    message: string
    stack: string
    place?: { file: string; line: number; column: number }
  }
  calls: DryRunCall[]
  fetches: DryRunFetch[]
  logs: LogLine[]
  milliseconds: number
  cpuMilliseconds: number
}

/** The outcome of a run for the author, with positions in the author's own files. */
export function toResult(
  outcome: Outcome,
  map: SourceMapIndex | undefined,
): Omit<DryRunResult, 'calls' | 'fetches' | 'logs' | 'milliseconds'> {
  if (outcome.status === 'interrupted') throw failed(`The run was interrupted (${outcome.reason}): run it again`)
  const { cpuMilliseconds } = outcome
  if (outcome.status === 'done') {
    return { status: 'done', result: outcome.result, state: outcome.state, cpuMilliseconds }
  }
  const { reason, error, hook } = outcome
  const { name, message, stack = '' } = error
  const place = firstPosition(stack, map)
  return {
    status: 'failed',
    error: {
      reason,
      ...(hook !== undefined && { hook }),
      name,
      message: message + limitHint(reason, name),
      stack: toSourceStack(stack, map).replace(/^\n/, ''),
      ...(place && { place }),
    },
    cpuMilliseconds,
  }
}
