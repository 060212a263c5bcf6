import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { rowList, rowReports } from '../../tables/table-output.ts'
import { largeRows, rowsInput, waitComputed, writeToTable } from '../../tables/write-to-table.ts'

const row = {
  type: 'object',
  required: ['id'],
  additionalProperties: true,
  properties: { id: { type: 'integer', minimum: 1 } },
} as const

export const updateTableRows = operation({
  name: 'updateTableRows',
  description:
    'Changes the given columns of rows. A row that fails is reported in `errors`, and the others are changed.',
  method: 'PUT',
  path: '/v1/tables/{table}/rows',
  access: 'bot',
  recordsMembers: true,
  largeList: largeRows,
  errors: ['LimitExceeded'],
  input: closedObject({ ...rowsInput, rows: { ...rowsInput.rows, items: row } }, { waitComputed }),
  output: closedObject({ rows: rowList }, rowReports),

  async handle(context, input) {
    const {
      updated,
      inserted: _,
      ...reports
    } = await writeToTable(context, input, (writer) => writer.update(input.rows))
    return { rows: updated, ...reports }
  },
})
