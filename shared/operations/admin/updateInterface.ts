import { ApiError } from '../../errors.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { boundSchemas } from '../../code/accept-schema.ts'
import { mergePatch } from '../../code/merge-patch.ts'
import { assertPublishable, noSuchEntry, requireEntry } from '../../integrations/catalogue.ts'
import { builtInInterface } from '../../models/inbox-definition.ts'
import { interfaceDefinitionSchema, interfaceFields, interfaceOutput, toInterface } from '../../models/interface.ts'
import { operation } from '../../rpc/operation.ts'
import { lockEntry, updateEntry } from '../../store/catalogue.ts'
import { transact } from '../../store/database.ts'

export const updateInterface = operation({
  name: 'updateInterface',
  description:
    'Changes a version of an interface. Maps are merged; null removes an entry. The built-in interface stays as it is: a ' +
    'change succeeds if it declares no other parts, because published command lines deploy projects that contain it.',
  method: 'PUT',
  path: '/v1/admin/interfaces/{id}',
  access: 'developer',
  errors: ['ResourceNotFound', 'AlreadyExists', 'LimitExceeded', 'Forbidden'],
  input: closedObject({ id: { type: 'string' } }, interfaceFields),
  output: closedObject({ interface: interfaceOutput }),

  async handle({ db, caller }, { id, public: isPublic, ...change }) {
    const { workspaceId } = caller
    if (id === builtInInterface.id) {
      assertBuiltInParts(change)
      return { interface: toInterface(builtInInterface) }
    }
    const { definition: present } = await requireEntry(db, 'interfaces', { workspaceId }, id)
    // Refuses a definition that is too long before its schemas are examined.
    mergePatch(interfaceDefinitionSchema, present, change)
    boundSchemas(interfaceDefinitionSchema, change)
    await transact(db, async (transaction) => {
      const row = await lockEntry(transaction, 'interfaces', workspaceId, id)
      if (!row) throw noSuchEntry('interfaces', id)
      if (isPublic) await assertPublishable(transaction, 'interfaces', workspaceId, row.name)
      await updateEntry(transaction, 'interfaces', id, {
        definition: mergePatch(interfaceDefinitionSchema, row.definition, change),
        ...(isPublic !== undefined && { visibility: isPublic ? 'public' : 'private' }),
      })
    })
    return { interface: toInterface(await requireEntry(db, 'interfaces', { workspaceId }, id)) }
  },
})

/** @throws ApiError `Forbidden` when a change adds or removes parts of the built-in interface */
function assertBuiltInParts(change: Infer<typeof interfaceDefinitionSchema>): void {
  for (const field of ['entities', 'events', 'actions', 'channels'] as const) {
    const parts = toInterface(builtInInterface)[field] ?? {}
    for (const [name, part] of Object.entries(change[field] ?? {})) {
      if (Object.hasOwn(parts, name) === (part !== null)) continue
      const { name: of, version } = builtInInterface
      throw new ApiError(
        'Forbidden',
        `Interface ${of} ${version} is built in: ${field}.${name} cannot change. Create another version`,
      )
    }
  }
}
