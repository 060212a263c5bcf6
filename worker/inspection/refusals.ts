import type { Compilation, Compiled } from '#sandbox/compiler/contract.ts'
import { sourceFile, type SourcePosition } from '#sandbox/compiler/source-map.ts'
import type { InvalidFlowsError } from '#shared/flows/check-flows.ts'
import type { InspectionOutcome } from '#shared/models/bot-code.ts'

/** Refusals of uploads: their messages, and the place of the fault. */

type Refused = Extract<InspectionOutcome, { status: 'refused' }>

/** A refusal that names the flow, node, card and field at fault. */
export function flowRefusal({ message, first }: InvalidFlowsError): Refused {
  const { problem: _problem, ...place } = first
  return { status: 'refused', type: 'InvalidPayload', message, metadata: place }
}

export function toRefusal(compiled: Exclude<Compilation, Compiled>): Refused {
  if (compiled.status === 'refused') return refusal(compiled.problem, compiled.at)
  const { problem, limit } = compiled
  return { status: 'refused', type: 'LimitExceeded', message: problem, metadata: { limit } }
}

/** A refusal with the position of the fault in the uploaded code. */
export function refusal(problem: string, at: SourcePosition | undefined): Refused {
  const refused = { status: 'refused', type: 'InvalidPayload' } as const
  if (!at) return { ...refused, message: `${sourceFile}: ${problem}`, metadata: { file: sourceFile } }
  return { ...refused, message: `${at.file}:${at.line}:${at.column}: ${problem}`, metadata: { ...at } }
}

/** The refusal of code whose evaluation ends one sandbox process after another, so that no request waits for a timeout. */
export function interruptedAgain(reason: string, attempt: number): Refused {
  const message =
    `The evaluation of the code was interrupted in attempt ${attempt}, and nothing was changed: ${reason}. Make the ` +
    'module do less when it loads, or raise limits.memoryMegabytes, then try again'
  return { status: 'refused', type: 'LimitExceeded', message, metadata: { limit: 'memoryMegabytes' } }
}
