import { closedObject } from '../../schema.ts'
import { tableJob, toTableJob } from '../../models/table-job.ts'
import { operation } from '../../rpc/operation.ts'
import { listTableJobs } from '../../store/table-jobs.ts'
import { existingTable } from '../../tables/bot-table.ts'
import { tableReference } from '../../tables/table-input.ts'

/** Jobs of one answer. */
const maxJobs = 20

export const getTableJobs = operation({
  name: 'getTableJobs',
  description: `Gives the newest ${maxJobs} imports and exports of a table.`,
  method: 'GET',
  path: '/v1/tables/{table}/jobs',
  access: 'bot',
  input: closedObject({ table: tableReference }),
  output: closedObject({ jobs: { type: 'array', items: tableJob } }),

  async handle(context, { table }) {
    const { id } = await existingTable(context, table)
    return { jobs: (await listTableJobs(context.db, id, maxJobs)).map(toTableJob) }
  },
})
