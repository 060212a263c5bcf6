import { isRole } from '../rpc/caller.ts'
import { errorStatuses, type ErrorBody, type ErrorType } from '../errors.ts'
import type { Operation } from '../rpc/operation.ts'

/** The meaning of each error, for the client that receives it. */
const meanings: Record<ErrorType, string> = {
  Unknown: 'Something went wrong, and it is not known what.',
  Internal: 'Internal error: the log has the details under the id of this error.',
  Unauthorized: 'The credentials are missing, or open nothing.',
  PaymentRequired: 'The plan does not include this.',
  Forbidden: 'The caller may not do this.',
  QuotaExceeded: 'The quota is used up.',
  ResourceNotFound: 'What the request names is not there.',
  MethodNotFound: 'The address does not take this method.',
  InvalidPayload: 'The request is not as the schema says; the message names the field.',
  InvalidJsonSchema: 'A JSON Schema in the request is none.',
  InvalidDataFormat: 'Data in the request does not fit the schema that was declared for it.',
  InvalidIdentifier: 'An id in the request is none.',
  ReferenceNotFound: 'Something that the body refers to is not there.',
  InvalidQuery: 'The query is not one that can be answered, for instance its nextToken.',
  Runtime: 'The bot’s code failed.',
  BreakingChanges: 'The change would break who relies on the former version.',
  AlreadyExists: 'There is one of that name already.',
  RelationConflict: 'The state of things does not allow this any more.',
  ReferenceConstraint: 'Something else still refers to it.',
  ResourceLockedConflict: 'A request with this Idempotency-Key is under way.',
  ResourceGone: 'It was there once, and is no more.',
  PayloadTooLarge: 'The body is larger than this interface takes.',
  LimitExceeded: 'Something in the request is larger, or more, than is allowed.',
  UnsupportedMediaType: 'The body’s encoding cannot be read: send JSON in UTF-8.',
  RateLimited: 'Too many requests, or too many events that wait: try again after Retry-After seconds.',
  OperationTimeout: 'A worker has not answered in time.',
}

const allTypes = Object.keys(errorStatuses) as ErrorType[]

/** The body of every failed answer (`ErrorBody`). */
export const errorSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'code', 'type', 'message'],
  properties: {
    id: { type: 'string', description: 'By which the log knows it.' },
    code: { type: 'integer', description: 'The HTTP status.' },
    type: { enum: allTypes, description: 'What programs go by.' },
    message: { type: 'string', description: 'What was wrong and what to do next, for people.' },
    metadata: { type: 'object', description: 'Details for programs; which ones, the type decides.' },
  },
}

/**
 * Every error that an operation may return: its own, and those that follow from its access and input, in the order of
 * the table.
 */
export function errorsOf(operation: Operation): ErrorType[] {
  const { access, method, takesBody, input } = operation
  const isInChat = access === 'visitor' || access === 'user'
  const fields = Object.keys((input as { properties?: object }).properties ?? {})
  const possible: ErrorType[] = ['Internal', ...operation.errors]
  if (access !== 'visitor') possible.push('Unauthorized')
  if (access === 'bot' || isRole(access)) possible.push('Forbidden')
  // The chat in the URL, or the integration in the headers, may not exist.
  if (isInChat || access === 'bot') possible.push('ResourceNotFound')
  if (isInChat) possible.push('RateLimited')
  if (takesBody || fields.length > 0 || access === 'bot') possible.push('InvalidPayload')
  if (takesBody) possible.push('PayloadTooLarge', 'UnsupportedMediaType')
  if (method === 'POST') possible.push('ResourceLockedConflict')
  if (fields.includes('nextToken')) possible.push('InvalidQuery')
  if (takesBody && fields.includes('tags')) possible.push('LimitExceeded')
  return allTypes.filter((type) => possible.includes(type))
}

/** Responses that operations share, by name. */
export type Responses = Record<string, object>

/**
 * References to the error responses of an operation, by status.
 *
 * @param shared receives the responses, to which all operations refer
 */
export function errorResponses(operation: Operation, shared: Responses): Record<string, { $ref: string }> {
  const share = (name: string, write: () => object) => {
    shared[name] ??= write()
    return reference('responses', name)
  }
  const byStatus = Map.groupBy(errorsOf(operation), (type) => errorStatuses[type])
  const responses = [...byStatus].map(([status, types]) => {
    const description = types.map((type) => `\`${type}\`: ${meanings[type]}`).join('\n\n')
    return [status, share(types.join('-'), () => toResponse(types, description, status === 429))]
  })
  return {
    ...Object.fromEntries(responses),
    ...(operation.method === 'POST' && { 422: share('KeyReused', keyReused) }),
    503: share('Unavailable', unavailable),
  }
}

const keyReused = () =>
  toResponse(['KeyReused'], '`InvalidPayload`: The Idempotency-Key was sent with another request.')

const unavailable = () =>
  toResponse(['Unavailable'], '`Internal`: Something that the platform needs is away at the moment.', true)

/**
 * @param examples their names
 * @param passes whether the error is temporary and a retry may succeed
 */
function toResponse(examples: string[], description: string, passes = false): object {
  return {
    description,
    ...(passes && { headers: { 'Retry-After': reference('headers', 'RetryAfter') } }),
    content: {
      'application/json': {
        schema: reference('schemas', 'Error'),
        examples: Object.fromEntries(examples.map((name) => [name, reference('examples', name)])),
      },
    },
  }
}

/** An example of each error, and of the two whose status is not that of their type; all operations refer to them. */
export function errorExamples(): Record<string, { value: ErrorBody }> {
  return {
    ...Object.fromEntries(allTypes.map((type) => [type, toExample(type, errorStatuses[type], meanings[type])])),
    KeyReused: toExample('InvalidPayload', 422, 'This Idempotency-Key was sent before, with another request.'),
    Unavailable: toExample('Internal', 503, 'A service that the platform depends on is unavailable: try again soon.'),
  }
}

function toExample(type: ErrorType, code: number, message: string): { value: ErrorBody } {
  return { value: { id: 'err_20261122093000x642D5BD8', code, type, message } }
}

/** Refers to a component of the document. */
export function reference(
  kind: 'schemas' | 'responses' | 'headers' | 'parameters' | 'examples',
  name: string,
): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}
