import type { FormBody } from '../rpc/form-file.ts'
import type { Operation } from '../rpc/operation.ts'
import { errorResponses, reference, type Responses } from './errors.ts'
import { exampleOfAnswer, exampleOfBody, exampleOfParameter } from './examples.ts'
import { callersOf, securityOf, type Interface } from './interfaces.ts'
import type { Schema, SchemaPublisher } from './schemas.ts'

/** The context in which an operation is described. */
export interface Writing {
  interface: Interface
  /** Unique in the document. */
  operationId: string
  publisher: SchemaPublisher
  /** Collects the answers that operations share. */
  responses: Responses
  /** Whether the server's URL already contains a path parameter. */
  isKnown(parameter: string): boolean
}

/** The OpenAPI operation object of an operation. */
export function describeOperation(operation: Operation, writing: Writing): Record<string, unknown> {
  const { name, description, access, takesBody, stability } = operation
  return {
    operationId: writing.operationId,
    tags: [writing.interface.tag, ...(stability ? [stability] : [])],
    summary: name,
    description: `${description}\n\n${callersOf(access)}`,
    security: securityOf(access),
    parameters: [
      ...pathParameters(operation, writing),
      ...queryParameters(operation, writing),
      ...headerParameters(operation),
      ...headerFields(operation, writing),
    ],
    ...(takesBody && { requestBody: requestBody(operation, writing) }),
    responses: { [operation.status]: success(operation, writing), ...errorResponses(operation, writing.responses) },
  }
}

function namesInPath(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name!)
}

function pathParameters(operation: Operation, { publisher, isKnown, interface: { name: api } }: Writing) {
  const { properties = {} } = operation.input as Schema
  const names = namesInPath(operation.path).filter((name) => !isKnown(name))
  return names.map((name) => {
    const schema = properties[name] ?? { type: 'string', description: 'The last part of the chat’s URL.' }
    return {
      in: 'path',
      name,
      required: true,
      schema: publisher.publish(schema),
      example: exampleOfParameter(api, operation, schema, name),
    }
  })
}

function queryParameters(operation: Operation, { publisher }: Writing) {
  const { properties = {}, required = [] } = operation.input as Schema
  const inPath = new Set(namesInPath(operation.path))
  return Object.entries(properties)
    .filter(([name]) => !inPath.has(name) && !operation.headers.includes(name))
    .filter(([name]) => !operation.takesBody || operation.queryFields.includes(name))
    .map(([name, { description, ...schema }]) => ({
      in: 'query',
      name,
      required: required.includes(name),
      ...(description && { description }),
      schema: publisher.publish(schema),
      ...(schema.type === 'object' && { style: 'deepObject', explode: true }),
    }))
}

function headerParameters({ access, method, opensStream }: Operation) {
  const names = [
    ...(method === 'POST' ? ['IdempotencyKey'] : []),
    ...(access === 'bot' ? ['IntegrationId', 'IntegrationAlias'] : []),
    ...(opensStream ? ['LastEventId'] : []),
  ]
  return names.map((name) => reference('parameters', name))
}

/** The input fields that are headers. */
function headerFields({ headers, input }: Operation, { publisher }: Writing) {
  const { properties = {} } = input as Schema
  return headers.map((name) => {
    const { description, ...schema } = properties[name]!
    return { in: 'header', name, ...(description && { description }), schema: publisher.publish(schema) }
  })
}

function requestBody(operation: Operation, { publisher, interface: { name: api } }: Writing) {
  const { properties = {}, required = [], ...rest } = operation.input as Schema
  const inPath = new Set([...namesInPath(operation.path), ...operation.headers, ...operation.queryFields])
  const body = {
    ...rest,
    required: required.filter((name) => !inPath.has(name)),
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !inPath.has(name))),
  }
  const { form } = operation
  const described = form ? withFile(body, form) : body
  const example = exampleOfBody(api, operation, described)
  const type = form ? 'multipart/form-data' : 'application/json'
  return { required: true, content: { [type]: { schema: publisher.publish(described), example } } }
}

function withFile<Body extends Schema>(body: Body, { fileField }: FormBody): Body {
  const file = { ...body.properties?.[fileField], type: 'string', format: 'binary' }
  return { ...body, properties: { ...body.properties, [fileField]: file } }
}

function success(operation: Operation, { publisher, interface: { name: api } }: Writing) {
  if (operation.opensStream) return stream
  if (operation.answersWithFile) return content
  return {
    description: operation.status === 201 ? 'Created.' : 'Done.',
    ...(operation.method === 'POST' && {
      headers: { 'Idempotent-Replayed': reference('headers', 'IdempotentReplayed') },
    }),
    content: {
      [operation.streamsLines === true ? operation.lineFormat.contentType : 'application/json']: {
        schema: publisher.publish(operation.output),
        example: exampleOfAnswer(api, operation),
      },
      // The form of its events is that of the other API.
      ...(operation.streamsLines === 'on request' && {
        [operation.lineFormat.contentType]: { schema: { type: 'string' } },
      }),
    },
  }
}

/** The response of an operation that answers with the content of a file. */
const content = {
  description: 'The content.',
  headers: { 'Idempotent-Replayed': reference('headers', 'IdempotentReplayed') },
  content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' }, example: 'ID3' } },
}

/** The response of an operation that opens a stream. */
const stream = {
  description:
    'Server-sent events, each with a signal `{ type, data }` in JSON: `message_created`, `message_deleted`, ' +
    '`event_created`, `participant_added`, `participant_removed`, `message_stream_delta`, `message_stream_complete` ' +
    'and `message_stream_abort`; and `ping` while the conversation is idle. A request for an upgrade gets the same ' +
    'signals over a WebSocket, one per message. Both may have the user’s key in the query, as `x-user-key`.',
  content: {
    'text/event-stream': {
      schema: { type: 'string' },
      example:
        'event: message\nid: 1763803800000\n' +
        'data: {"type":"message_deleted","data":{"id":"msg_01KAN7QZ3D5W8Y2B4C6E9F0G1H","conversationId":"orders","userId":"ada"}}\n\n',
    },
  },
}
