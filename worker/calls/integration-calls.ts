import type { Json, JsonObject } from '#sandbox/protocol/contract.ts'
import type { Context } from '#shared/context.ts'
import {
  actionTriggered,
  conversationUpdated,
  messageCreated,
  messageUpdated,
  register,
  unregister,
  webhookReceived,
} from '#shared/models/event.ts'
import { integrationWebhookUrl } from '#shared/integrations/registration.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import type { RetryPolicy } from '#shared/models/tables.ts'
import type { IntegrationCode } from '../code/bundles.ts'
import { platformRetry, NotDeliverable, NotRunnable, type Call } from './call.ts'
import { sdkCall } from './sdk-handler.ts'
import { findMessageContext, findUpdateContext } from './message-context.ts'
import { readWebhookRequest } from './webhook-request.ts'

/** A call of an integration, in the form of either kind of code. */
interface Request {
  operation: string
  /** For native code: the path of the exported function; `argument` is passed beside the context. */
  path: string[]
  /** Whether the module may lack the function. */
  optional?: boolean
  argument: JsonObject
  /** For a bundle of the public SDK: the body of the request. */
  body: JsonObject
  answersVerbatim?: boolean
  retry: RetryPolicy | null
}

/**
 * The call of an installed integration's code for an event.
 *
 * @returns undefined when the event's message was deleted
 * @throws NotDeliverable when the integration does not receive the event
 * @throws NotRunnable when the request does not fit into the code's memory
 */
export async function integrationCall(
  context: Context,
  event: ClaimedEvent,
  code: IntegrationCode,
): Promise<Call | undefined> {
  const { installation } = code
  if (!installation.enabled && event.type !== register && event.type !== unregister) {
    throw new NotDeliverable(
      `The integration '${installation.alias}' is disabled: event ${event.id} was not delivered to it`,
    )
  }
  switch (event.type) {
    case register:
    case unregister:
      return toCall(context, code, {
        operation: event.type,
        path: [event.type],
        optional: true,
        argument: {},
        body: event.payload as JsonObject,
        retry: null,
      })
    case webhookReceived:
      return webhookCall(context, event, code)
    case actionTriggered: {
      const { type, input } = event.payload as { type: string; input: JsonObject }
      return integrationActionCall(context, code, type, input)
    }
    case messageCreated:
      return deliveryCall(context, event, code)
    case messageUpdated:
    case conversationUpdated:
      return updateCall(context, event, code)
    default:
      throw new NotDeliverable(`No integration receives events of type '${event.type}'`)
  }
}

/** Only native code can read the body in parts: bundles of the public SDK get it as one string. */
async function webhookCall(context: Context, event: ClaimedEvent, code: IntegrationCode): Promise<Call> {
  const { request, refusal, openBody } = await readWebhookRequest(context, event)
  const call = toCall(context, code, {
    operation: webhookReceived,
    path: ['handler'],
    argument: { request },
    body: { req: request },
    answersVerbatim: true,
    retry: null,
  })
  if (code.bundle.kind === 'sdk' || call.task.kind !== 'call') {
    // The api refuses such a request, so limits have changed since it was accepted.
    if (refusal !== undefined) throw new NotRunnable('memory', refusal)
    return call
  }
  const streamed = { field: 'request', ...(refusal !== undefined && { refusal }) }
  return { ...call, task: { ...call.task, streamed }, sources: { request: openBody } }
}

/** @param name without the alias */
export function integrationActionCall(context: Context, code: IntegrationCode, name: string, input: JsonObject): Call {
  return toCall(context, code, {
    operation: actionTriggered,
    path: ['actions', name],
    argument: { input },
    body: { type: name, input },
    retry: null,
  })
}

async function deliveryCall(context: Context, event: ClaimedEvent, code: IntegrationCode): Promise<Call | undefined> {
  const subjects = await findMessageContext(context, event, code)
  if (!subjects) return undefined
  const { type, payload } = subjects.message
  const { channel } = subjects.conversation
  const { alias, disabled_channels: disabled } = code.installation
  if (disabled.includes(channel)) {
    throw new NotDeliverable(`The channel '${channel}' of '${alias}' is disabled: the message was not delivered`)
  }
  const body = { type, payload, ...subjects } as unknown as JsonObject
  return toCall(context, code, {
    operation: messageCreated,
    path: ['channels', channel, 'messages', type],
    argument: body,
    body,
    retry: platformRetry,
  })
}

/** Only bundles of the public SDK can enable these operations. */
async function updateCall(context: Context, event: ClaimedEvent, code: IntegrationCode): Promise<Call | undefined> {
  if (code.bundle.kind !== 'sdk') throw new NotDeliverable(`Only bundles of the public SDK receive '${event.type}'`)
  const update = await findUpdateContext(context, event, code)
  if (!update) return undefined
  const body = update as unknown as JsonObject
  return toCall(context, code, { operation: event.type, path: [], argument: body, body, retry: platformRetry })
}

function toCall({ config }: Context, code: IntegrationCode, request: Request): Call {
  const { installation, bundle } = code
  const { bot_id: botId, integration_id: integrationId, alias, webhook_id: webhookId } = installation
  const { configuration_type: configurationType } = installation
  const configuration = installation.configuration as Record<string, Json>
  if (bundle.kind === 'sdk') {
    const headers = {
      'x-integration-id': integrationId,
      'x-integration-alias': alias,
      'x-webhook-id': webhookId,
      ...(configurationType !== null && { 'x-bp-configuration-type': configurationType }),
    }
    return sdkCall(code, { ...request, type: request.operation, botId, configuration, headers })
  }
  const webhookUrl = integrationWebhookUrl(config, webhookId)
  const ctx = { botId, integrationId, integrationAlias: alias, configuration, configurationType, webhookId, webhookUrl }
  const { path, optional = false, argument, retry } = request
  return { code, task: { kind: 'call', path, optional, argument: { ctx, ...argument }, addsContext: true }, retry }
}
