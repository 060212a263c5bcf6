import type { Json } from '#sandbox/protocol/contract.ts'
import type { FlowPosition, FlowTask } from '#sandbox/protocol/flow-contract.ts'
import type { Context } from '#shared/context.ts'
import { readDestination } from '#shared/flows/destinations.ts'
import type { FlowSummary, TriggerSummary } from '#shared/flows/flow-summary.ts'
import type { RenamedNodes } from '#shared/flows/renamed-nodes.ts'
import {
  conversationStarted,
  flowDue,
  flowEnded,
  flowEvents,
  flowResumed,
  flowScheduled,
  flowStarted,
  handoverEnded,
  messageCreated,
} from '#shared/models/event.ts'
import { storedLength } from '#shared/json/exponents.ts'
import { flowStateName, stateLimit } from '#shared/models/state.ts'
import { newId } from '#shared/ids.ts'
import type { StateChange } from '#shared/store/complete-events.ts'
import { cardOutcomes } from '#shared/store/journal.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import type { BotCode } from '../code/bundles.ts'
import { InvalidStateError } from './invalid-state-error.ts'

/** The part of a bot's flows in the run of an event. */
export async function flowTask(
  { db }: Pick<Context, 'db'>,
  event: ClaimedEvent,
  { versionId, flows, retry }: BotCode & { flows: FlowSummary },
): Promise<FlowTask> {
  const { payload } = event
  const cause = causeOf(event)
  const position = renamedPosition(positionOf(event), flows.renamed) ?? null
  return {
    version: versionId,
    position,
    cause,
    ...(event.type === flowDue && { waitOf: payload['waitOf'] as string }),
    ...(event.type === flowStarted && { start: payload as unknown as NonNullable<FlowTask['start']> }),
    // The end of a handover continues the flow that waits for it before it may begin another one.
    triggers: (cause === 'resume' && position ? [] : flows.triggers)
      .filter((each) => isMet(each, event))
      .map(({ flow, node, trigger }) => ({ flow, node, trigger })),
    // Only a run that was begun before has recorded any.
    recorded: event.attempt > 1 ? ((await cardOutcomes(db, event.id)) as Record<string, Json>) : {},
    isLastAttempt: !retry || event.failures + 1 >= retry.attempts,
  }
}

/** Whether the flows may have anything to do with an event. */
export function concernsFlows(task: FlowTask): boolean {
  return task.cause !== 'event' || task.triggers.length > 0
}

/** Whether an event meets a trigger, except for its filter. */
function isMet({ flow, trigger, event, integration, cron }: TriggerSummary, { type, payload, ...met }: ClaimedEvent) {
  if (cron !== undefined) return type === flowScheduled && payload['flow'] === flow && payload['trigger'] === trigger
  return event === type && (integration ?? met.integration) === met.integration
}

/** Whether the event is one of the platform's own for flows, which no hook of the bot receives. */
export function isOwnEvent({ type }: ClaimedEvent): boolean {
  return flowEvents.includes(type)
}

const withoutSubscription = new Set([...flowEvents, conversationStarted, flowScheduled, handoverEnded])

/** Whether flows receive the event without a subscription of the bot. */
export function isWanted({ type }: ClaimedEvent): boolean {
  return withoutSubscription.has(type)
}

/** Whether the flows wait for the end of a handover, so that the bot does not answer. */
export function isHandedOver({ position }: FlowTask): boolean {
  return position?.frames.at(-1)?.waits?.for === 'handover'
}

function causeOf({ type }: ClaimedEvent): FlowTask['cause'] {
  if (type === messageCreated) return 'message'
  if (type === flowDue) return 'due'
  if (type === flowEnded) return 'end'
  if (type === flowResumed || type === handoverEnded) return 'resume'
  return type === flowStarted ? 'start' : 'event'
}

function positionOf({ states }: ClaimedEvent): FlowPosition | undefined {
  return states?.find(({ name }) => name === flowStateName)?.payload['position'] as FlowPosition | undefined
}

/** A position in a version that has some nodes of earlier ones under other names. */
function renamedPosition(position: FlowPosition | undefined, renamed: RenamedNodes = {}): FlowPosition | undefined {
  if (position === undefined) return undefined
  const frames = position.frames.map((frame) => {
    const path = `${frame.flow}/${frame.node}`
    if (!Object.hasOwn(renamed, path)) return frame
    const { flow = frame.flow, node = frame.node } = readDestination(renamed[path]!)
    return { ...frame, flow, node }
  })
  return { ...position, frames }
}

/**
 * The change of the stored position after a run.
 *
 * @param position null when no flow is in progress; undefined when it has not changed
 * @throws InvalidStateError when it is too large
 */
export function positionChange(event: ClaimedEvent, position: FlowPosition | null | undefined): StateChange[] {
  if (position === undefined || event.conversation_id === null) return []
  if (position === null && positionOf(event) === undefined) return []
  const change = {
    id: newId('state'),
    type: 'conversation',
    ownerId: event.conversation_id,
    name: flowStateName,
  } as const
  if (position === null) return [{ ...change, set: {}, removed: ['position'] }]
  const size = storedLength(JSON.stringify(position))
  if (size > stateLimit) {
    throw new InvalidStateError(
      `The variables of the flows in progress have ${Math.ceil(size / 1024)} KB, more than their maximum of ` +
        `${stateLimit / 1024} KB`,
    )
  }
  const until = position.frames.at(-1)?.waits?.until
  const expiry = typeof until === 'number' ? Math.max(1, Math.ceil(until - Date.now())) : undefined
  return [{ ...change, set: { position }, removed: [], ...(expiry !== undefined && { expiry }) }]
}
