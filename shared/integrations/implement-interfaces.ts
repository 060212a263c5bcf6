import { ApiError } from '../errors.ts'
import type { integrationDefinitionSchema } from '../models/integration.ts'
import { interfaceDefinitionSchema } from '../models/interface.ts'
import type { Infer } from '../schema.ts'
import type { Database } from '../store/database.ts'
import { findUsable } from './catalogue.ts'

type Definition = Infer<typeof integrationDefinitionSchema>
type Implemented = NonNullable<Definition['interfaces']>

/**
 * Completes the interfaces that a change of an integration declares with their names and versions.
 *
 * @throws ApiError `ReferenceNotFound` when the workspace cannot use an interface
 */
export async function resolveInterfaces<Change extends Pick<Definition, 'interfaces'>>(
  db: Database,
  workspaceId: string,
  change: Change,
): Promise<Change> {
  if (!change.interfaces) return change
  const interfaces: Implemented = {}
  for (const [alias, one] of Object.entries(change.interfaces)) {
    const row = one && (await findUsable(db, 'interfaces', workspaceId, one.id))
    if (one && !row) throw new ApiError('ReferenceNotFound', `interfaces.${alias}: interface '${one.id}' not found`)
    interfaces[alias] = one && row ? { ...one, name: row.name, version: row.version } : null
  }
  return { ...change, interfaces }
}

/**
 * Checks that an integration has the actions, events and channels of the interfaces that a change declares, under the
 * interface's names or the ones that the declaration maps them to.
 *
 * @param definition of the integration after the change
 * @throws ApiError `InvalidPayload` with the interface and the first missing name
 */
export async function assertImplemented(
  db: Database,
  workspaceId: string,
  { interfaces = {} }: Pick<Definition, 'interfaces'>,
  definition: Definition,
): Promise<void> {
  for (const [alias, one] of Object.entries(interfaces)) {
    const row = one && (await findUsable(db, 'interfaces', workspaceId, one.id))
    if (!one || !row) continue
    const required: Infer<typeof interfaceDefinitionSchema> = row.definition
    for (const part of ['actions', 'events', 'channels'] as const) {
      for (const name of Object.keys(required[part] ?? {})) {
        const mapped = one[part]?.[name]?.name ?? name
        if (Object.hasOwn(definition[part] ?? {}, mapped)) continue
        throw new ApiError(
          'InvalidPayload',
          `interfaces.${alias}: the integration has no ${part.slice(0, -1)} '${mapped}', which interface ${row.name} ` +
            `${row.version} requires: declare it, or map its name`,
        )
      }
    }
  }
}
