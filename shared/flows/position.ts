import { closedObject, type Infer } from '../schema.ts'

/** Where a conversation stands in the flows of its bot, for programs. */
export const flowPosition = closedObject(
  {
    flow: { type: 'string' },
    node: { type: 'string' },
    card: { type: 'string', description: 'The card that waits.' },
    waitsFor: { enum: ['answer', 'time', 'handover'] },
    callers: {
      type: 'array',
      items: { type: 'string' },
      description: 'The flows that wait for the end of this one, the first of the conversation first.',
    },
    versionId: { type: 'string', description: 'The bot version whose flows brought the conversation here.' },
  },
  { until: { type: 'string', format: 'date-time', description: 'The end of the wait; absent for none.' } },
)

/** The parts of a stored position that programs see. The kernel writes it. */
interface StoredPosition {
  version: string
  frames: {
    flow: string
    node: string
    card: string
    waits?: { for: 'answer' | 'time' | 'handover'; until: number | null }
  }[]
}

/** @param stored the payload of the state `$flow`; undefined when no flow is in progress */
export function toFlowPosition(stored: Record<string, unknown> | undefined): Infer<typeof flowPosition> | undefined {
  const position = stored?.['position'] as StoredPosition | undefined
  const frame = position?.frames.at(-1)
  if (!position || !frame?.waits) return undefined
  const { flow, node, card, waits } = frame
  return {
    flow,
    node,
    card,
    waitsFor: waits.for,
    callers: position.frames.slice(0, -1).map((caller) => caller.flow),
    versionId: position.version,
    ...(waits.until !== null && { until: new Date(waits.until).toISOString() }),
  }
}
