import type { Operation } from '../rpc/operation.ts'
import * as operations from '../operations/index.ts'
import { describeOperation } from './describe-operation.ts'
import { errorExamples, errorSchema, type Responses } from './errors.ts'
import { interfaceOf, securitySchemes, tags } from './interfaces.ts'
import { SchemaPublisher } from './schemas.ts'

/** An OpenAPI 3.1 document, as plain JSON. */
export type OpenApiDocument = Record<string, unknown> & {
  paths: Record<string, Record<string, Record<string, unknown>>>
}

/** The version of the runtime interface that the product's specification names. */
const runtimeVersion = '1.82.0'

interface Scope {
  title: string
  description: string
  version: string
  serverUrl: string
  includes(operation: Operation): boolean
  /** The part of the operations' paths that the server's URL already contains. */
  prefix: string
}

/**
 * Describes the whole API.
 *
 * @param baseUrl the platform's URL, without a trailing slash
 */
export function describeApi(baseUrl: string): OpenApiDocument {
  return toDocument({
    title: 'Isobot',
    version: runtimeVersion,
    description:
      'A self-hosted bot platform: upload a bot’s hooks and actions, talk to it over HTTP. The operations are grouped by ' +
      'who uses them; each says who may call it, and what it may answer instead. The version is that of the runtime interface.',
    serverUrl: baseUrl,
    includes: () => true,
    prefix: '',
  })
}

/**
 * Describes the chat API at the URL of one chat, for clients that know only that URL.
 *
 * @param chatUrl the chat's URL, without a trailing slash
 */
export function describeChat(chatUrl: string): OpenApiDocument {
  return toDocument({
    title: 'Isobot chat',
    version: '1',
    description: 'Talks to one bot. `createUser` gives the key that goes into the header `x-user-key`.',
    serverUrl: chatUrl,
    includes: ({ path }) => interfaceOf(path).name === 'chat',
    prefix: '/chat/{webhookId}',
  })
}

function toDocument({ title, description, version, serverUrl, includes, prefix }: Scope): OpenApiDocument {
  const described = Object.values(operations).filter((operation) => includes(operation))
  const names = new Set(described.map(({ path }) => interfaceOf(path).tag))
  const used = new Set([...names, ...described.flatMap(({ stability }) => stability ?? [])])
  const publisher = new SchemaPublisher()
  const responses: Responses = {}
  const paths: OpenApiDocument['paths'] = {}
  for (const operation of described) {
    const path = operation.path.slice(prefix.length).replaceAll('*}', '}')
    const at = interfaceOf(operation.path)
    const writing = {
      interface: at,
      operationId: names.size === 1 ? operation.name : `${at.name}${capitalised(operation.name)}`,
      publisher,
      responses,
      isKnown: (parameter: string) => prefix.includes(`{${parameter}}`),
    }
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation, writing) }
  }
  return {
    openapi: '3.1.0',
    info: { title, description, version },
    servers: [{ url: serverUrl }],
    tags: tags.filter(({ name }) => used.has(name)),
    paths,
    components: {
      securitySchemes,
      parameters,
      headers,
      responses,
      schemas: { Error: errorSchema, ...publisher.components },
      examples: errorExamples(),
    },
  }
}

const parameters = {
  IdempotencyKey: {
    in: 'header',
    name: 'Idempotency-Key',
    description:
      'Something new with each request, for instance a UUID; of callers without credentials 20 characters at least. ' +
      'Sent again with it within 24 hours, the same request is not carried out again, and gets the first answer.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IntegrationId: {
    in: 'header',
    name: 'x-integration-id',
    description:
      'The integration to act as, where it is installed on the bot. A token of an integration says it already.',
    schema: { type: 'string' },
  },
  IntegrationAlias: {
    in: 'header',
    name: 'x-integration-alias',
    description: 'Which installation, when the bot has the integration more than once.',
    schema: { type: 'string' },
  },
  LastEventId: {
    in: 'header',
    name: 'Last-Event-ID',
    description: 'The id of the last frame that was heard: what has happened since comes first.',
    schema: { type: 'string' },
  },
}

const headers = {
  RetryAfter: { description: 'Seconds until it is worth trying again.', schema: { type: 'integer' } },
  IdempotentReplayed: {
    description: '`true` when the answer is the first one to the same Idempotency-Key.',
    schema: { type: 'string' },
  },
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
