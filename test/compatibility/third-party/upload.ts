import type { Connection } from '../../../cli/connection.ts'
import type { BuiltProject, Definition } from './build-project.ts'

/** A declaration as an SDK of any version has it: more fields than the API takes. */
interface Declared {
  [field: string]: unknown
}
type Declarations = Record<string, Declared> | undefined

const noSchema = {}

const part = (value: unknown) => (value ?? {}) as Declared
const schemaOf = (value: unknown) => part(part(value)['schema'] ?? noSchema)

function map<T>(declarations: unknown, take: (one: Declared) => T): Record<string, T> {
  return Object.fromEntries(
    Object.entries((declarations ?? {}) as NonNullable<Declarations>).map(([name, one]) => [name, take(one)]),
  )
}

const tagsOf = (value: unknown) => ({ tags: map(part(value)['tags'], () => ({})) })
const events = (value: unknown) => map(value, (one) => ({ schema: schemaOf(one) }))
const states = (value: unknown) => map(value, (one) => ({ type: one['type'], schema: schemaOf(one) }))
const actions = (value: unknown) =>
  map(value, (one) => ({ input: { schema: schemaOf(one['input']) }, output: { schema: schemaOf(one['output']) } }))

/** Creates the integration, as the public command line asks for it, without interfaces and words. @returns its id */
export async function uploadIntegration(api: Connection, { code, definition }: BuiltProject): Promise<string> {
  const { integration } = await api.ask<'createIntegration'>('POST', '/v1/admin/integrations', {
    body: {
      name: nameOf(definition),
      version: definition.version ?? '0.0.1',
      code,
      configuration: { schema: schemaOf(definition['configuration']) },
      actions: actions(definition['actions']),
      events: events(definition['events']),
      states: states(definition['states']),
      user: tagsOf(definition['user']),
      channels: map(definition['channels'], (one) => ({
        messages: map(one['messages'], (message) => ({ schema: schemaOf(message) })),
        message: tagsOf(one['message']),
        conversation: tagsOf(one['conversation']),
      })),
      secrets: Object.fromEntries(((definition['secretNames'] ?? []) as string[]).map((name) => [name, 'none'])),
    },
  })
  return integration.id
}

/** Creates the bot. Recurring events are left out: they would come in the middle of the trial. @returns its id */
export async function uploadBot(api: Connection, { code, definition }: BuiltProject): Promise<string> {
  const { bot } = await api.ask<'createBot'>('POST', '/v1/admin/bots', {
    body: {
      code,
      actions: actions(definition['actions']),
      events: events(definition['events']),
      states: states(definition['states']),
      user: tagsOf(definition['user']),
      conversation: tagsOf(definition['conversation']),
      message: tagsOf(definition['message']),
    },
  })
  return bot.id
}

/** A name without the handle of its publisher, which belongs to another workspace. */
function nameOf({ name = 'unnamed' }: Definition): string {
  return name.split('/').at(-1)!.toLowerCase()
}
