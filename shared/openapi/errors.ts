import { closedObject } from '../schema.ts'
import { isForMembers } from '../rpc/caller.ts'
import { errorStatuses, type ErrorBody, type ErrorType } from '../errors.ts'
import type { Operation } from '../rpc/operation.ts'

/** The meaning of each error, for the client that receives it. */
const meanings: Record<ErrorType, string> = {
  Unknown: 'An unknown error occurred.',
  Internal: 'Internal error: the log has the details under the id of this error.',
  Unauthorized: 'The credentials are missing or invalid.',
  PaymentRequired: 'A budget of language models is used up; the message names it.',
  Forbidden: 'The caller may not do this.',
  QuotaExceeded: 'The quota is used up.',
  ResourceNotFound: 'The resource was not found.',
  MethodNotFound: 'The path does not support this method.',
  InvalidPayload: 'The request does not match the schema; the message names the field.',
  InvalidJsonSchema: 'A JSON Schema in the request is invalid.',
  InvalidDataFormat: 'Data in the request does not match its declared schema.',
  InvalidIdentifier: 'An id in the request is invalid.',
  ReferenceNotFound: 'A resource that the request refers to was not found.',
  InvalidQuery: 'The query is invalid, for instance its nextToken.',
  Runtime: 'The bot’s code failed.',
  BreakingChanges: 'The change would break users of the former version.',
  AlreadyExists: 'A resource with this name or id already exists.',
  RelationConflict: 'The present state of the resource does not allow the change.',
  ReferenceConstraint: 'Another resource still refers to this one.',
  ResourceLockedConflict: 'A request with this Idempotency-Key is in progress.',
  ResourceGone: 'The resource no longer exists.',
  PayloadTooLarge: 'The body is larger than the maximum of this interface.',
  LimitExceeded: 'The request exceeds a limit; the message names it.',
  UnsupportedMediaType: 'The encoding of the body is not supported: send JSON in UTF-8.',
  RateLimited: 'Too many requests, or too many waiting events: try again after Retry-After seconds.',
  OperationTimeout: 'A worker did not answer in time.',
}

const allTypes = Object.keys(errorStatuses) as ErrorType[]

/** The body of every failed answer (`ErrorBody`). */
export const errorSchema = closedObject(
  {
    id: { type: 'string', description: 'The id of the error in the log.' },
    code: { type: 'integer', description: 'The HTTP status.' },
    type: { enum: allTypes, description: 'The type of the error, for programs.' },
    message: { type: 'string', description: 'The problem and its remedy, for people.' },
  },
  { metadata: { type: 'object', description: 'Details for programs, depending on the type.' } },
)

/**
 * Every error that an operation may return: its own, and those that follow from its access and input, in the order of
 * the table.
 */
export function errorsOf(operation: Operation): ErrorType[] {
  const { access, method, takesBody, input } = operation
  const isInChat = access === 'visitor' || access === 'user'
  const fields = Object.keys((input as { properties?: object }).properties ?? {})
  const possible: ErrorType[] = ['Internal', 'RateLimited', ...operation.errors]
  if (access !== 'visitor') possible.push('Unauthorized')
  if (access === 'bot' || access === 'program' || isForMembers(access)) possible.push('Forbidden')
  // The chat in the URL, or the integration in the headers, may not exist.
  if (isInChat || access === 'bot' || access === 'program') possible.push('ResourceNotFound')
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
  toResponse(['KeyReused'], '`InvalidPayload`: The Idempotency-Key was used with a different request.')

const unavailable = () =>
  toResponse(['Unavailable'], '`Internal`: A service that the platform depends on is unavailable.', true)

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
    KeyReused: toExample(
      'InvalidPayload',
      422,
      'This Idempotency-Key was used with a different request: send a fresh key with each new request',
    ),
    Unavailable: toExample('Internal', 503, 'A service that the platform depends on is unavailable: try again soon'),
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
