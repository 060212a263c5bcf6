import { closedObject } from '../../schema.ts'
import { removeObject } from '../../files/objects.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { deleteFile as deleteFileRow } from '../../store/runtime-files.ts'
import { notOwn } from './not-found.ts'

export const deleteFile = operation({
  name: 'deleteFile',
  description: 'Deletes a file with its content.',
  method: 'DELETE',
  path: '/v1/files/{id}',
  access: 'bot',
  recordsMembers: true,
  input: closedObject({ id: { type: 'string', description: 'Its id, or its key.' } }),
  output: closedObject({}),

  async handle(context, input) {
    const { caller } = context
    const { objectId } = await once(context, input, async (db) => {
      const row = await deleteFileRow(db, caller, input.id)
      if (!row) throw await notOwn(db, caller, input.id)
      return { objectId: row.object_id }
    })
    if (objectId !== null) await removeObject(context, objectId)
    return {}
  },
})
