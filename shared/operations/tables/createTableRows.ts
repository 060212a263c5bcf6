import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { rowList, rowReports } from '../../tables/table-output.ts'
import { largeRows, rowsInput, waitComputed, writeToTable } from '../../tables/write-to-table.ts'

export const createTableRows = operation({
  name: 'createTableRows',
  description: 'Creates rows. A row that fails is reported in `errors`, and the others are stored.',
  method: 'POST',
  path: '/v1/tables/{table}/rows',
  access: 'bot',
  recordsMembers: true,
  largeList: largeRows,
  awaitsWorker: { field: 'waitComputed' },
  errors: ['LimitExceeded', 'QuotaExceeded'],
  input: closedObject(rowsInput, { waitComputed }),
  output: closedObject({ rows: rowList }, rowReports),

  async handle(context, input) {
    const {
      inserted,
      updated: _,
      ...reports
    } = await writeToTable(context, input, (writer) => writer.create(input.rows))
    return { rows: inserted, ...reports }
  },
})
