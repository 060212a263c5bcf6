import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format } from 'oxfmt'
import { errorStatuses } from '#shared/errors.ts'
import { eventObject } from '#shared/models/event-object.ts'
import { chatPayload } from '#shared/models/payload.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import { SchemaPublisher, type Schema } from '#shared/openapi/schemas.ts'
import { botOperations } from '#shared/router.ts'
import { flowTypes } from './flow-types.ts'
import { comment, fieldsOf, typeOf } from './schema-types.ts'

const root = join(import.meta.dirname, '..', '..')

/** The file of `isobot/bot`. */
export const typesFile = join(root, 'bot', 'index.d.ts')

const heading = `/**
 * The types for authors of bots and integrations: \`import type { Hooks } from 'isobot/bot'\`. Generated from the
 * schemas of the platform's operations and the files in bot/parts by \`npm run types\`, and compared by
 * \`npm run check\`: change those.
 */`

/** Names for authors, by component of the HTTP API, where the plain names belong to the Chat API's resources. */
const names: Record<string, string> = {
  RuntimeMessage: 'Message',
  RuntimeConversation: 'Conversation',
  RuntimeUser: 'User',
  RuntimeEvent: 'StoredEvent',
  State: 'StoredState',
  File: 'StoredFile',
}

const nameOf = (component: string) => names[component] ?? component

/** The text of `isobot/bot`. It imports nothing, so that an editor can load it alone. */
export async function writeTypes(): Promise<string> {
  const [author, web] = await Promise.all([readPart('author.d.ts'), readPart('web.d.ts')])
  const text = [
    heading,
    'export {}',
    author,
    ...flowTypes(),
    ...describePlatform(),
    `declare global {\n${asGlobals(web)}\n}`,
  ].join('\n\n')
  const { semi, singleQuote, printWidth } = JSON.parse(await readFile(join(root, '.oxfmtrc.json'), 'utf8')) as {
    semi: boolean
    singleQuote: boolean
    printWidth: number
  }
  const { code, errors } = await format('index.d.ts', text, { semi, singleQuote, printWidth })
  if (errors.length > 0) throw new Error(`The types cannot be formatted: ${errors[0]!.message}`)
  return code
}

function readPart(name: string): Promise<string> {
  return readFile(join(root, 'bot', 'parts', name), 'utf8')
}

/** Within `declare global`, the keyword `declare` is not allowed. */
function asGlobals(part: string): string {
  return part.replaceAll(/^declare /gm, '')
}

function describePlatform(): string[] {
  const publisher = new SchemaPublisher()
  // The order of `botOperations` depends on the order of imports.
  const inOrder = botOperations.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const operations = inOrder.map((operation) => describeOperation(operation, publisher))
  return [
    `interface EventObject {\n${fieldsOf(eventObject, nameOf)}\n}`,
    comment('Payloads of messages by type. Declare the types of integrations here.') +
      `export interface MessagePayloads {\n${describePayloads()}\n}`,
    ...operations.map(({ types }) => types),
    comment('The operations of the platform for bots and integrations.') +
      `export interface Operations {\n${operations.map(({ method }) => method).join('\n')}\n}`,
    ...Object.entries(publisher.components).map(([component, schema]) => declare(nameOf(component), schema)),
    `export type ApiErrorType = ${Object.keys(errorStatuses)
      .map((type) => `'${type}'`)
      .join(' | ')}`,
  ]
}

function declare(name: string, schema: Schema): string {
  const { properties } = schema
  const isInterface = properties !== undefined && Object.keys(properties).length > 0
  if (isInterface) return `export interface ${name} {\n${fieldsOf(schema, nameOf)}\n}`
  return `export type ${name} = ${typeOf(schema, nameOf)}`
}

function describeOperation(operation: Operation, publisher: SchemaPublisher): { types: string; method: string } {
  const { name, description, errors } = operation
  const typeName = name.charAt(0).toUpperCase() + name.slice(1)
  const input = publisher.publish(operation.input) as Schema
  const optional = (input.required ?? []).length === 0 ? '?' : ''
  const refusals = errors.length > 0 ? `\n * @throws ApiError ${errors.map((type) => `\`${type}\``).join(', ')}` : ''
  return {
    types: [
      describeInput(`${typeName}Input`, input),
      declare(`${typeName}Output`, publisher.publish(operation.output) as Schema),
    ].join('\n\n'),
    method:
      `/**\n * ${description}${refusals}\n */\n` +
      `${name}(input${optional}: ${typeName}Input): ${operation.streamsLines ? 'AsyncGenerator' : 'Promise'}<${typeName}Output>`,
  }
}

/** An input with a message's type and payload becomes a union by type, so that the compiler checks the payload. */
function describeInput(name: string, input: Schema): string {
  const { properties = {}, required = [] } = input
  const createsMessage = 'type' in properties && 'payload' in properties && 'conversationId' in properties
  if (!createsMessage || !required.includes('conversationId')) return declare(name, input)
  const { type: _type, payload: _payload, ...others } = properties
  return `export type ${name} = MessageContent & {\n${fieldsOf({ ...input, properties: others }, nameOf)}\n}`
}

/** Payloads as bots see them: without the type, blocs with items as messages, and carousels whose cards may omit it. */
function describePayloads(): string {
  const variants = chatPayload.oneOf as readonly Schema[]
  const fields = variants.map((variant) => {
    const { type, ...properties } = variant.properties!
    const required = variant.required!.filter((name) => name !== 'type')
    const name = String(type!.const)
    return `${name}: ${ofItems[name] ?? typeOf({ ...variant, properties, required }, nameOf)}`
  })
  return fields.join('\n')
}

const ofItems: Record<string, string> = {
  bloc: '{ items: MessageContent[] }',
  carousel: `{ items: Array<MessagePayloads['card'] & { type?: 'card' }> }`,
}
