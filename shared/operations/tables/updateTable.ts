import { closedObject } from '../../schema.ts'
import { table, toTable } from '../../models/table.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { assertQuota, existingTable, inTransaction } from '../../tables/bot-table.ts'
import { changeTable } from '../../tables/change-table.ts'
import { newTableFields, schemaInput, tableName, tableReference } from '../../tables/table-input.ts'

export const updateTable = operation({
  name: 'updateTable',
  description:
    'Changes a table. Columns in `schema` are added or changed, null removes one, and the others stay. A column whose type changes loses its values.',
  method: 'PUT',
  path: '/v1/tables/{table}',
  access: 'bot',
  recordsMembers: true,
  errors: ['AlreadyExists', 'InvalidJsonSchema', 'LimitExceeded', 'QuotaExceeded', 'RelationConflict'],
  input: closedObject(
    { table: tableReference },
    {
      ...newTableFields,
      name: tableName,
      schema: schemaInput,
      tags: { ...newTableFields.tags, additionalProperties: { type: ['string', 'null'], maxLength: 500 } },
    },
  ),
  output: closedObject({ table }, { staleColumns: { type: 'array', items: { type: 'string' } } }),

  async handle(context, input) {
    return {
      table: await once(context, input, (db) =>
        inTransaction(db, async (db) => {
          const { table, ...change } = input
          const row = await existingTable(context, table, { db, isLocked: true })
          const changed = await changeTable(db, row, change)
          // A row counts as many rows as the factor says.
          if (changed.factor > row.factor) await assertQuota(context, db)
          return toTable(changed)
        }),
      ),
    }
  },
})
