import { closedObject } from '../../schema.ts'
import { tableJob } from '../../models/table-job.ts'
import { operation } from '../../rpc/operation.ts'
import { startJob } from '../../tables/start-job.ts'
import { tableReference } from '../../tables/table-input.ts'

export const exportTable = operation({
  name: 'exportTable',
  description: 'Writes the rows of a table to a file, the `outputFileId` of the job that does it.',
  method: 'GET',
  path: '/v1/tables/{table}/export',
  access: 'bot',
  recordsMembers: true,
  errors: ['ResourceLockedConflict'],
  input: closedObject(
    { table: tableReference },
    {
      format: { enum: ['csv', 'json'], default: 'csv' },
      compress: { type: 'boolean', default: true, description: 'By gzip.' },
    },
  ),
  output: closedObject({ job: tableJob }),

  async handle(context, input) {
    const { format, compress } = input
    return { job: await startJob(context, input, async () => ({ type: 'export', format, is_compressed: compress })) }
  },
})
