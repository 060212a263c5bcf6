import { closedObject } from '../../schema.ts'
import { removeObject } from '../../files/objects.ts'
import { onceEachRun } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import type { Database } from '../../store/database.ts'
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
    const write = async (db: Database) => {
      const row = await deleteFileRow(db, caller, input.id)
      if (!row) throw await notOwn(db, caller, input.id)
      return { id: row.id, objectId: row.object_id }
    }
    // A repeated run may have made the file again, which keeps its id.
    const { objectId } = await onceEachRun(context, input, write, async (db, { id }) => {
      const row = await deleteFileRow(db, caller, id)
      return { id, objectId: row?.object_id ?? null }
    })
    if (objectId !== null) await removeObject(context, objectId)
    return {}
  },
})
