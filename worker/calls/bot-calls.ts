import type { JsonObject } from '#sandbox/protocol/contract.ts'
import { unknownAction } from '#shared/messaging/call-action.ts'
import type { Context } from '#shared/context.ts'
import {
  conversationEndStage,
  incomingEventStages,
  incomingMessageStages,
  turnEndStage,
} from '#shared/models/bot-code.ts'
import {
  actionTriggered,
  chatCustom,
  handoverEnded,
  messageCreated,
  register,
  toRuntimeEvent,
} from '#shared/models/event.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import type { BotCode } from '../code/bundles.ts'
import { toEventObject } from './event-object.ts'
import { concernsFlows, flowTask, isHandedOver, isOwnEvent, isWanted } from './flow-task.ts'
import { platformRetry, type Call } from './call.ts'
import { sdkCall, toHeader, type SdkRequest } from './sdk-handler.ts'
import { findMessageContext } from './message-context.ts'

/**
 * The call of a bot's code for an event.
 *
 * @returns undefined when the code has no hook for the event or no subscription to it, or its message was deleted
 */
export async function botCall(context: Context, event: ClaimedEvent, code: BotCode): Promise<Call | undefined> {
  if (event.type === actionTriggered) {
    const { type, input } = event.payload as { type: string; input: JsonObject }
    return botActionCall(code, { botId: event.bot_id, type, input, event: toEventObject(event) })
  }
  if (event.type === register) return registerCall(event, code)
  const isSubscribed = !event.subscriptions || Object.hasOwn(event.subscriptions, event.type)
  if (code.bundle.kind === 'sdk') return isSubscribed ? sdkEventCall(context, event, code) : undefined
  return nativeEventCall(context, event, code, isSubscribed)
}

/** The hooks and the flow, if any, for an event of a bot that is no bundle of the public SDK. */
async function nativeEventCall(
  context: Context,
  event: ClaimedEvent,
  code: BotCode,
  isSubscribed: boolean,
): Promise<Call | undefined> {
  if (!isSubscribed && !isWanted(event)) return undefined
  const isOwn = isOwnEvent(event)
  const isDeclared = (stage: string) => code.hooks.includes(stage)
  const incoming = event.type === messageCreated ? incomingMessageStages : incomingEventStages
  // Flows continue after a handover without a subscription to its end; hooks need one.
  const isForFlows = isOwn || (event.type === handoverEnded && !isSubscribed)
  const stages = isForFlows ? [] : incoming.filter(isDeclared)
  const atEnd = isDeclared(turnEndStage)
  const { flows } = code
  // Updates of workflows are handled during a handover, and begin no flow then.
  const isWithheld = event.handover_id !== null
  const flow = flows && !isWithheld ? await flowTask(context, event, { ...code, flows }) : undefined
  if (flow && flow.cause !== 'resume' && !isOwn && isHandedOver(flow)) return undefined
  const concerns = flow !== undefined && concernsFlows(flow)
  if (!concerns && (isForFlows || (stages.length === 0 && !atEnd))) return undefined
  const ending = {
    ...(flow && isDeclared(conversationEndStage) && { atFlowEnd: conversationEndStage }),
    ...(atEnd && { finally: turnEndStage }),
  }
  return {
    code,
    task: { kind: 'event', event: toEventObject(event), stages, ...(flow && { flow }), ...ending },
    retry: code.retry,
  }
}

/** @param action `event` is the event object that the action receives */
export function botActionCall(
  code: BotCode,
  { botId, type, input, event }: { botId: string; type: string; input: JsonObject; event: JsonObject },
): Call {
  if (code.bundle.kind === 'native') {
    if (!code.actions.includes(type)) throw unknownAction(type, code.actions)
    return { code, task: { kind: 'action', name: type, input, event }, retry: code.retry }
  }
  // A bundle of the public SDK does not declare its actions, so only the call shows whether one exists.
  const shown = settingsOf(code)
  return sdkCall(code, { operation: actionTriggered, type, botId, ...shown, body: { type, input }, retry: null })
}

/** The bot's own `register`, after each deployment of a bundle of the public SDK; other code has none. */
function registerCall({ bot_id: botId }: ClaimedEvent, code: BotCode): Call | undefined {
  if (code.bundle.kind !== 'sdk') return undefined
  return sdkCall(code, { operation: register, type: register, botId, ...settingsOf(code), body: {}, retry: null })
}

/**
 * How a bundle gets the settings of its bot. The published SDK declares the configuration as JSON in `payload`, where the
 * published runtime of agents reads it, and passes all of the header on as it is.
 */
function settingsOf({ settings: { configuration, tags } }: BotCode): Pick<SdkRequest, 'configuration' | 'headers'> {
  return {
    configuration: { ...(configuration as JsonObject), payload: JSON.stringify(configuration) },
    headers: { 'x-bp-tags': toHeader(tags) },
  }
}

async function sdkEventCall(context: Context, event: ClaimedEvent, code: BotCode): Promise<Call | undefined> {
  const messageContext = event.type === messageCreated ? await findMessageContext(context, event) : undefined
  if (event.type === messageCreated && !messageContext) return undefined
  const { user_id: userId, conversation_id: conversationId, payload } = event
  // The published chat has the fields of the client in a field of their own.
  const custom = event.type === chatCustom && { payload: { userId, conversationId, payload } }
  const shown = { ...toRuntimeEvent(event), ...(messageContext && { payload: messageContext }), ...custom }
  return sdkCall(code, {
    operation: 'event_received',
    type: event.type,
    botId: event.bot_id,
    ...settingsOf(code),
    body: { event: shown as unknown as JsonObject },
    retry: platformRetry,
  })
}
