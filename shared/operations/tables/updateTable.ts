import { closedObject } from '../../schema.ts'
import { table, toTable } from '../../models/table.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { assertQuota, existingTable } from '../../tables/bot-table.ts'
import { changeTable } from '../../tables/change-table.ts'
import { newTableFields, schemaInput, tableName, tableReference } from '../../tables/table-input.ts'

export const updateTable = operation({
  name: 'updateTable',
  description:
    'Changes a table. Columns in `schema` are added or changed, null removes one, and the others stay. A column whose type changes loses its values.',
  method: 'PUT',
  path: '/v1/tables/{table}',
  access: 'bot',
  mayTakeLong: true,
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
    const { isDue, ...answer } = await once(context, input, async (db) => {
      const { table, ...change } = input
      const row = await existingTable(context, table, { db, isLocked: true })
      const { table: changed, staleColumns } = await changeTable(db, row, change)
      // A row counts as many rows as the factor says.
      if (changed.factor > row.factor) await assertQuota(context, db)
      const isDue = changed.is_compute_enabled && (staleColumns.length > 0 || !row.is_compute_enabled)
      return { table: toTable(changed), ...(staleColumns.length > 0 && { staleColumns }), isDue }
    })
    if (isDue) await wakeWorker(context, 'recompute-rows', answer.table.id, context.caller.botId)
    return answer
  },
})
