import type { HandlerResponse, Json, JsonObject } from '#sandbox/protocol/contract.ts'
import { isRecord } from '#shared/models/payload.ts'
import type { RetryPolicy } from '#shared/models/tables.ts'
import type { Code } from '../execution/bundles.ts'
import type { Call, Reading } from './call.ts'

/** What a bundle of the public SDK is asked to do. */
export interface SdkRequest {
  operation: string
  /** The type of the event, or any text: bots insist on one. */
  type: string
  botId: string
  configuration: JsonObject
  /** Of an integration, beside those that every bundle gets. */
  headers?: Record<string, string>
  body: JsonObject
  /** The body of the answer is the result, as it is. */
  answersVerbatim?: boolean
  retry: RetryPolicy | null
}

/**
 * The call of a bundle's `handler`. Bundles read who they are, and what they are asked, from headers; a handler rejects
 * when one is missing that its SDK knows.
 */
export function sdkCall(code: Code, request: SdkRequest): Call {
  const headers = {
    'content-type': 'application/json',
    'x-bot-id': request.botId,
    'x-bot-user-id': request.botId,
    'x-bp-operation': request.operation,
    'x-bp-type': request.type,
    'x-bp-configuration': Buffer.from(JSON.stringify(request.configuration)).toString('base64'),
    ...request.headers,
  }
  const argument = { method: 'POST', path: '/', query: '', headers, body: JSON.stringify(request.body) }
  return {
    code,
    task: { kind: 'call', path: ['handler'], argument, addsContext: false },
    read: request.answersVerbatim ? readVerbatim : readOutput,
    retry: request.retry,
  }
}

function readVerbatim(answer: Json): Reading {
  return { result: answer, ...failureOf(answer as HandlerResponse) }
}

function readOutput(answer: Json): Reading {
  const response = answer as HandlerResponse
  const { failure } = failureOf(response)
  if (failure) return { failure }
  const body = parse(response.body)
  return isRecord(body) && 'output' in body ? { result: body['output'] as Json } : {}
}

function failureOf({ status, body = '' }: HandlerResponse): Reading {
  if (status < 400) return {}
  const error = parse(body)
  const told = isRecord(error) && typeof error['message'] === 'string' ? error['message'] : body
  const message = told || `The handler answered with ${status}`
  // It is the status that says what is to be done; the code in the body may differ from it.
  return { failure: { message, mayPass: status >= 500 } }
}

function parse(body = ''): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
