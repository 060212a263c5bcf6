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
      'A self-hosted bot platform: upload a bot’s hooks and actions, talk to it over HTTP. Each operation names its ' +
      'callers and its errors. The version is that of the runtime interface.',
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
    description: 'The chat with one bot. `createUser` returns the key for the header `x-user-key`.',
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
      'A unique value for each request, for instance a UUID; at least 20 characters from callers without credentials. ' +
      'A repeated request with the same key within 24 hours is not carried out again and gets the first answer.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IntegrationId: {
    in: 'header',
    name: 'x-integration-id',
    description:
      'The integration to act as, which must be installed on the bot. Tokens of integrations do not need this header.',
    schema: { type: 'string' },
  },
  IntegrationAlias: {
    in: 'header',
    name: 'x-integration-alias',
    description: 'The alias of the installation, when the bot has more than one of the integration.',
    schema: { type: 'string' },
  },
  LastEventId: {
    in: 'header',
    name: 'Last-Event-ID',
    description: 'The id of the last received frame: the stream begins with the entries after it.',
    schema: { type: 'string' },
  },
}

const headers = {
  RetryAfter: { description: 'Seconds to wait before a retry.', schema: { type: 'integer' } },
  IdempotentReplayed: {
    description: '`true` when the answer repeats that of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string' },
  },
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
