import { isUtf8 } from 'node:buffer'
import { Ajv } from 'ajv'
import type { ByteSource, JsonObject } from '#sandbox/protocol/contract.ts'
import { exampleId } from '#shared/openapi/example-values.ts'
import { exampleOfAnswer } from '#shared/openapi/examples.ts'
import { getConversation, getMessage, getUser } from '#shared/operations/index.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import { failed } from '../failure.ts'
import type { BundledIntegration } from '../project/own-integration.ts'
import type { DryRun, DryRunOptions } from './dry-run.ts'
import type { DryRunResult } from './result.ts'

/** A request to the webhook of an integration. */
export interface IncomingRequest {
  /** Default: POST. */
  method?: string
  path?: string
  query?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

/** A message of the bot, in a conversation of an integration. */
export interface DeliveredMessage {
  channel: string
  type: string
  payload: JsonObject
  /** Fields of the conversation, the message and its user: the tags among them. */
  conversation?: JsonObject
  message?: JsonObject
  user?: JsonObject
}

/** An installed integration without a platform: its calls are recorded, not executed. */
export interface DryIntegration {
  register(options?: DryRunOptions): Promise<DryRunResult>
  unregister(options?: DryRunOptions): Promise<DryRunResult>
  /** Has the handler answer a request; the result is its response. */
  handle(request: IncomingRequest, options?: DryRunOptions): Promise<DryRunResult>
  /** Has a channel send a message of the bot. */
  send(message: DeliveredMessage, options?: DryRunOptions): Promise<DryRunResult>
  /** Calls an action; the result is its output. */
  callAction(name: string, input?: JsonObject, options?: DryRunOptions): Promise<DryRunResult>
}

/**
 * Installs an integration for a dry run.
 *
 * @param configuration completed by the defaults of its schema
 * @throws Failure when the configuration does not fit its schema
 */
export function installDry(
  { call }: Pick<DryRun, 'call'>,
  { name, configuration: { schema = {} } = {} }: BundledIntegration['definition'],
  configuration: JsonObject,
): DryIntegration {
  const webhookId = exampleId('webhook')
  const ctx = {
    botId: exampleId('bot'),
    integrationId: exampleId('integration'),
    integrationAlias: name,
    configuration: complete(schema, configuration),
    configurationType: null,
    webhookId,
    webhookUrl: `https://bots.example.com/webhooks/${webhookId}`,
  }
  return {
    register: (options) => call(['register'], { ctx }, options),
    unregister: (options) => call(['unregister'], { ctx }, options),
    handle({ method = 'POST', path = '', query = '', headers = {}, body = '' }, options) {
      const lowerCase = Object.fromEntries(
        Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]),
      )
      const bytes = Buffer.from(body)
      const request = { method, path, query, headers: lowerCase, ...(bytes.length > 0 && toText(bytes)) }
      return call(['handler'], { ctx, request }, { ...options, streamed: { request: () => inOnePart(bytes) } })
    },
    send({ channel, type, payload, conversation = {}, message = {}, user = {} }, options) {
      const delivered = {
        message: { ...exampleOf(getMessage, 'message'), type, payload, ...message },
        conversation: { ...exampleOf(getConversation, 'conversation'), channel, tags: {}, ...conversation },
        user: { ...exampleOf(getUser, 'user'), tags: {}, ...user },
      } as JsonObject
      return call(['channels', channel, 'messages', type], { ctx, type, payload, ...delivered }, options)
    },
    callAction: (action, input = {}, options) => call(['actions', action], { ctx, input }, options),
  }
}

function complete(schema: object, given: JsonObject): JsonObject {
  const configuration = structuredClone(given)
  const ajv = new Ajv({ useDefaults: true, strict: false })
  if (ajv.validate(schema, configuration)) return configuration
  throw failed(`The configuration is not valid: ${ajv.errorsText(ajv.errors, { dataVar: 'configuration' })}`)
}

function exampleOf(operation: Operation, field: string): object {
  return (exampleOfAnswer('runtime', operation) as Record<string, object>)[field]!
}

/** As the platform passes a body to code. */
function toText(bytes: Buffer): { body: string; isBase64?: true } {
  return isUtf8(bytes) ? { body: bytes.toString() } : { body: bytes.toString('base64'), isBase64: true }
}

async function* inOnePart(bytes: Uint8Array): ByteSource {
  if (bytes.length > 0) yield bytes
}
