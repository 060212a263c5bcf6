import type { EventRow } from './tables.ts'
import { closedObject, type Infer } from '../schema.ts'
import type { ExternalIds } from './message.ts'

/** The types of the event of a chat message, and of the custom event of a chat client. */
export const messageCreated = 'message_created'
export const chatCustom = 'chat:custom'
/** The events of the web chat: a visitor has opened a conversation, and a page has sent an event. */
export const webchatStarted = 'webchat:conversationStarted'
export const webchatTrigger = 'webchat:trigger'
/** The events of the inbox: a member answers in a conversation, and members have ended a handover. */
export const inboxAssigned = 'inbox:hitlAssigned'
export const inboxStopped = 'inbox:hitlStopped'
/** The event of an action that is called over HTTP. */
export const actionTriggered = 'action_triggered'
/** A state of the bot has expired. */
export const stateExpired = 'state_expired'
/** A workflow has changed; the payload's `type` names the change. */
export const workflowUpdate = 'workflow_update'
/** A conversation was created; only for bots with a flow that begins then. */
export const conversationStarted = 'conversation_started'
/** The time of a flow's cron trigger has come; the payload names the flow and the trigger. */
export const flowScheduled = 'flow_scheduled'
/** A flow has waited for as long as it should; the payload names the event that began the wait. */
export const flowDue = 'flow_due'
/** A flow begins in a conversation, at the request of an operation. */
export const flowStarted = 'flow_started'
/** People have handed a conversation back to the flows. */
export const flowResumed = 'flow_resumed'
/** People have handed a conversation back, or the time of its handover is over. */
export const handoverEnded = 'handover_ended'
/** The flows of a conversation end, at the request of an operation. */
export const flowEnded = 'flow_ended'
/** A message to be sent at a later time. The event only holds the schedule; no code handles it. */
export const messageScheduled = 'message_scheduled'
/** A bot has changed a message or a conversation of an integration. */
export const messageUpdated = 'message_updated'
export const conversationUpdated = 'conversation_updated'
/** The events of an integration's code, besides messages and actions. */
export const webhookReceived = 'webhook_received'
export const register = 'register'
export const unregister = 'unregister'

/** The events of the platform's own for flows, which no hook receives and no trigger names. */
export const flowEvents: readonly string[] = [flowDue, flowStarted, flowEnded, flowResumed]

/** The types that only the platform may create. */
export const reservedTypes: readonly string[] = [
  messageCreated,
  chatCustom,
  actionTriggered,
  stateExpired,
  workflowUpdate,
  conversationStarted,
  flowScheduled,
  flowDue,
  flowStarted,
  flowEnded,
  flowResumed,
  handoverEnded,
  messageScheduled,
  messageUpdated,
  conversationUpdated,
  webhookReceived,
  register,
  unregister,
]

/** A custom event as the chat API shows it. */
export const chatEvent = closedObject({
  id: { type: 'string' },
  createdAt: { type: 'string', format: 'date-time' },
  payload: { type: 'object' },
  conversationId: { type: 'string' },
  userId: { type: 'string' },
})

export type ChatEvent = Infer<typeof chatEvent>

export function toChatEvent(row: Pick<EventRow, 'id' | 'created_at' | 'payload'>, known: ExternalIds): ChatEvent {
  return { id: row.id, createdAt: row.created_at.toISOString(), payload: row.payload, ...known }
}

export const eventStatuses = ['scheduled', 'canceled', 'pending', 'processed', 'ignored', 'failed'] as const

/** An event as the runtime API shows it. */
export const runtimeEvent = closedObject(
  {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    type: { type: 'string' },
    payload: { type: 'object' },
    status: { enum: eventStatuses },
    failureReason: { type: ['string', 'null'] },
  },
  { conversationId: { type: 'string' }, userId: { type: 'string' }, messageId: { type: 'string' } },
)

export type RuntimeEvent = Infer<typeof runtimeEvent>

/** @param installation the caller's installation, if it has one: its own event types are shown without prefix */
export function toRuntimeEvent(row: EventRow, installation?: { alias: string }): RuntimeEvent {
  const prefix = installation ? integrationType(installation, '') : ''
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    type: row.type.startsWith(prefix) ? row.type.slice(prefix.length) : row.type,
    payload: row.payload,
    status: row.status,
    failureReason: row.failure_reason,
    ...(row.conversation_id && { conversationId: row.conversation_id }),
    ...(row.user_id && { userId: row.user_id }),
    ...(row.message_id && { messageId: row.message_id }),
  }
}

/** The type, as the bot sees it, of an event that an installed integration created. */
export function integrationType({ alias }: { alias: string }, type: string): string {
  return `${alias}:${type}`
}
