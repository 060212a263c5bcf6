import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { tableJob } from '../../models/table-job.ts'
import { operation } from '../../rpc/operation.ts'
import { findFile } from '../../store/runtime-files.ts'
import { startJob } from '../../tables/start-job.ts'
import { tableReference } from '../../tables/table-input.ts'

export const importTable = operation({
  name: 'importTable',
  description:
    'Creates rows from the records of a file, in CSV or JSON, compressed by gzip or not. In a table with a key column a record changes the row that has its key. A job does it.',
  method: 'POST',
  path: '/v1/tables/{table}/import',
  access: 'bot',
  recordsMembers: true,
  errors: ['ReferenceNotFound', 'ResourceLockedConflict'],
  input: closedObject({
    table: tableReference,
    fileId: { type: 'string', minLength: 1, description: 'The id or the key of a file whose content is there.' },
  }),
  output: closedObject({ job: tableJob }),

  async handle(context, input) {
    const job = await startJob(context, input, async (db) => {
      const file = await findFile(db, context.caller, input.fileId)
      if (!file) throw new ApiError('ReferenceNotFound', `File '${input.fileId.slice(0, 100)}' not found`)
      if (file.object_id === null) {
        throw new ApiError('ReferenceNotFound', `The content of the file is not there: its status is ${file.status}`)
      }
      return { type: 'import', input_file_id: file.id, input_generation: file.generation }
    })
    return { job }
  },
})
