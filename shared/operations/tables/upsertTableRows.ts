import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { assertKeyColumn, definitionOf } from '../../tables/bot-table.ts'
import { columnName } from '../../tables/table-input.ts'
import { rowList, rowReports } from '../../tables/table-output.ts'
import { largeRows, rowsInput, waitComputed, writeToTable } from '../../tables/write-to-table.ts'

export const upsertTableRows = operation({
  name: 'upsertTableRows',
  description:
    'Changes the rows that have the same value in a column, and inserts the others. A row that fails is reported in `errors`.',
  method: 'POST',
  path: '/v1/tables/{table}/rows/upsert',
  access: 'bot',
  recordsMembers: true,
  largeList: largeRows,
  awaitsWorker: { field: 'waitComputed' },
  errors: ['LimitExceeded', 'QuotaExceeded'],
  input: closedObject(rowsInput, { keyColumn: { ...columnName, default: 'id' }, waitComputed }),
  output: closedObject({ inserted: rowList, updated: rowList }, rowReports),

  async handle(context, input) {
    const { keyColumn, rows } = input
    const { inserted, updated, ...reports } = await writeToTable(context, input, (writer, table) => {
      if (keyColumn === 'id') return writer.upsertById(rows)
      assertKeyColumn(definitionOf(table), keyColumn)
      return writer.upsertBy(keyColumn, rows)
    })
    return { inserted, updated, ...reports }
  },
})
