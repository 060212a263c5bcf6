import { pageMeta } from '../store/pagination.ts'
import { apiKey } from '../models/api-key.ts'
import { bot, botSummary } from '../models/bot.ts'
import { conversation, runtimeConversation } from '../models/conversation.ts'
import { chatEvent, runtimeEvent } from '../models/event.ts'
import { failedEvent, failedEventSummary } from '../models/failed-event.ts'
import { file, uploadableFile } from '../models/file.ts'
import { installation } from '../models/installation.ts'
import { integration, integrationSummary } from '../models/integration.ts'
import { knowledgeBase } from '../models/knowledge-base.ts'
import { message, runtimeMessage } from '../models/message.ts'
import { chatPayload } from '../models/payload.ts'
import { state } from '../models/state.ts'
import { table, tableRow } from '../models/table.ts'
import { runtimeUser, user } from '../models/user.ts'
import { workflow } from '../models/workflow.ts'
import { reference } from './errors.ts'

/** A JSON Schema with keywords that Ajv and OpenAPI share; `publish` converts the exceptions. */
export interface Schema {
  type?: string | readonly string[]
  nullable?: boolean
  format?: string
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  minimum?: number
  required?: readonly string[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  oneOf?: readonly Schema[]
  discriminator?: unknown
  description?: string
}

/** Schemas that the document contains once, under a name. */
const named: [object, string][] = [
  [message, 'Message'],
  [chatPayload, 'MessagePayload'],
  [conversation, 'Conversation'],
  [user, 'User'],
  [chatEvent, 'CustomEvent'],
  [runtimeMessage, 'RuntimeMessage'],
  [runtimeConversation, 'RuntimeConversation'],
  [runtimeUser, 'RuntimeUser'],
  [runtimeEvent, 'RuntimeEvent'],
  [state, 'State'],
  [workflow, 'Workflow'],
  [table, 'Table'],
  [tableRow, 'TableRow'],
  [file, 'File'],
  [uploadableFile, 'UploadableFile'],
  [knowledgeBase, 'KnowledgeBase'],
  [bot, 'Bot'],
  [botSummary, 'BotSummary'],
  [installation, 'Installation'],
  [integration, 'Integration'],
  [integrationSummary, 'IntegrationSummary'],
  [failedEvent, 'FailedEvent'],
  [failedEventSummary, 'FailedEventSummary'],
  [apiKey, 'ApiKey'],
  [pageMeta, 'PageMeta'],
]

/** Converts schemas to OpenAPI 3.1, and collects the named ones that are referenced. */
export class SchemaPublisher {
  readonly components: Record<string, Schema> = {}
  readonly #names = new Map(named)

  /** Converts a schema, or returns a reference to it when it has a name. */
  publish(schema: Schema): Schema | { $ref: string } {
    const name = this.#names.get(schema)
    if (name === undefined) return this.#convert(schema)
    this.components[name] ??= this.#convert(schema)
    return reference('schemas', name)
  }

  /**
   * OpenAPI 3.1 has no `nullable`, and allows a `discriminator` only between named schemas; the constants of the
   * variants contain the same information.
   */
  #convert({ nullable, discriminator: _discriminator, ...schema }: Schema): Schema {
    const { type, properties, additionalProperties, items, oneOf } = schema
    return {
      ...schema,
      ...(nullable && typeof type === 'string' && { type: [type, 'null'] }),
      ...(properties && { properties: mapValues(properties, (one) => this.publish(one) as Schema) }),
      ...(typeof additionalProperties === 'object' && { additionalProperties: this.publish(additionalProperties) }),
      ...(items && { items: this.publish(items) }),
      ...(oneOf && { oneOf: oneOf.map((one) => this.publish(one) as Schema) }),
    } as Schema
  }
}

function mapValues<Value, Result>(map: Record<string, Value>, change: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]))
}
