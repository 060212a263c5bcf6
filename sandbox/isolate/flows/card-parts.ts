import type { FlowFrame } from '../../protocol/flow-contract.ts'
import type { Client } from '../client.ts'
import { limitError } from '../errors.ts'
import type { Card } from './definition.ts'
import { recordOutcomes, scopeName, setVariable, type FlowRun } from './flow-run.ts'

/** Parts that several types of cards share. */

/** How a flow goes on after a card. */
export type Step =
  | { kind: 'next' }
  | { kind: 'port'; port: string }
  /** Null ends the flow. */
  | { kind: 'go'; to: string | null }
  | { kind: 'call'; flow: string; input: Record<string, unknown> }
  /** Another flow in the place of all that are in progress. */
  | { kind: 'jump'; flow: string }
  /** Another flow in the place of those in progress, above one that they interrupt. */
  | { kind: 'replace'; flow: string }
  | { kind: 'wait' }
  | { kind: 'end' }

export const next: Step = { kind: 'next' }

/** Prepares a card with effects: outcomes before it are recorded, and its calls are numbered by themselves. */
export async function openCalls(
  flowRun: FlowRun,
  frame: FlowFrame,
  card: Card,
): Promise<{ client: Client; scope: string }> {
  await recordOutcomes(flowRun)
  const scope = scopeName(flowRun, frame, card)
  return { client: flowRun.pipeline.clientOf(scope), scope }
}

type Method = (input: object) => Promise<unknown>

export function call(
  client: Client,
  operation:
    | 'createMessage'
    | 'callAction'
    | 'createEvent'
    | 'searchFiles'
    | 'handover'
    | 'listMessages'
    | 'generateText',
  input: object,
): Promise<unknown> {
  return ((client as Record<string, Method>)[operation] as Method)(input)
}

/** Stores a value in the variable that a field of the card names, if it names one. */
export function store(flowRun: FlowRun, card: Card, value: unknown, field: 'variable' | 'output' = 'output'): Step {
  const variable = card[field]
  if (typeof variable === 'string') setVariable(flowRun, variable, value)
  return next
}

/**
 * The conversation of the event.
 *
 * @param consequence of its absence, for the error
 */
export function conversationOf(flowRun: FlowRun, consequence: string): string {
  const { conversationId } = flowRun.pipeline.run.shared.event
  if (typeof conversationId === 'string') return conversationId
  const remedy = "a card 'emit' with the field conversation, or client.startFlow, continues in a conversation"
  throw limitError('error', 'NoConversationError', `The event has no conversation, ${consequence}: ${remedy}`)
}
