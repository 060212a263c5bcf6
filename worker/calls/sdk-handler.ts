import type { HandlerResponse, Json, JsonObject } from '#sandbox/protocol/contract.ts'
import { isRecord } from '#shared/models/payload.ts'
import type { RetryPolicy } from '#shared/models/tables.ts'
import type { Code } from '../code/bundles.ts'
import type { Call, Reading } from './call.ts'

/** A request to a bundle of the public SDK. */
export interface SdkRequest {
  operation: string
  /** The type of the event, or any text: bots require one. */
  type: string
  botId: string
  configuration: JsonObject
  /** Headers in addition to those of every bundle. */
  headers?: Record<string, string>
  body: JsonObject
  /** Whether the whole answer is the result. */
  answersVerbatim?: boolean
  retry: RetryPolicy | null
}

/**
 * The call of a bundle's `handler`. Bundles read their identity and the operation from headers; a handler rejects when
 * a header that its SDK requires is missing.
 */
export function sdkCall(code: Code, request: SdkRequest): Call {
  const headers = {
    'content-type': 'application/json',
    'x-bot-id': request.botId,
    'x-bot-user-id': request.botId,
    'x-bp-operation': request.operation,
    'x-bp-type': request.type,
    'x-bp-configuration': toHeader(request.configuration),
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

/** JSON in a header of the SDK. */
export function toHeader(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
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
  const errorMessage = isRecord(error) && typeof error['message'] === 'string' ? error['message'] : body
  const message = errorMessage || `The handler answered with ${status}`
  // The status decides about retries; the code in the body may differ from it.
  return { failure: { message, mayPass: status >= 500 } }
}

function parse(body = ''): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
