import { closedObject } from '../../schema.ts'
import { maxRows, tableRow } from '../../models/table.ts'
import { operation } from '../../rpc/operation.ts'
import { existingTable } from '../../tables/bot-table.ts'
import { findGroups, findRows } from '../../tables/find-rows.ts'
import { RowReader } from '../../tables/row.ts'
import { tableReference } from '../../tables/table-input.ts'

export const findTableRows = operation({
  name: 'findTableRows',
  description: 'Finds rows by a filter, in an order, or groups them. `search` ranks the rows by nearness to a text.',
  method: 'POST',
  path: '/v1/tables/{table}/rows/find',
  access: 'bot',
  mayTakeLong: true,
  changesNothing: true,
  errors: ['InvalidQuery', 'LimitExceeded'],
  input: closedObject(
    { table: tableReference },
    {
      limit: { type: 'integer', minimum: 1, maximum: maxRows, default: 100 },
      offset: { type: 'integer', minimum: 0, maximum: 2_147_483_647, default: 0 },
      filter: { type: 'object', description: 'Conditions by column, such as `{ "age": { "$gte": 18 } }`.' },
      group: {
        type: 'object',
        description: 'Columns with `key` or aggregations, such as `{ "status": "key", "total": ["sum", "avg"] }`.',
      },
      search: { type: 'string', maxLength: 1024 },
      select: { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 1000 } },
      orderBy: { type: 'string', maxLength: 1000, description: '`id` unless given.' },
      orderDirection: { enum: ['asc', 'desc'] },
    },
  ),
  output: closedObject(
    {
      rows: {
        type: 'array',
        items: {
          type: 'object',
          description: 'A row; with `group`, the keys and aggregations of a group instead, such as `totalSum`.',
          additionalProperties: true,
          properties: tableRow.properties,
        },
      },
      hasMore: { type: 'boolean' },
      offset: { type: 'integer' },
      limit: { type: 'integer' },
    },
    { warnings: { type: 'array', items: { type: 'string' } } },
  ),

  async handle(context, { table, group, ...request }) {
    const { id, columns } = await existingTable(context, table)
    if (group) return pageOf(await findGroups(context.db, { id, columns }, { ...request, group }), request)
    const found = await findRows(context.db, { id, columns }, request, context.holdAnswer)
    const reader = new RowReader(columns)
    return pageOf({ ...found, rows: found.rows.map((row) => reader.toRow(row, request.select !== undefined)) }, request)
  },
})

function pageOf<Row>(
  found: { rows: Row[]; hasMore: boolean; warnings: string[] },
  { limit, offset }: { limit: number; offset: number },
) {
  const { rows, hasMore, warnings } = found
  return { rows, hasMore, offset, limit, ...(warnings.length > 0 && { warnings }) }
}
