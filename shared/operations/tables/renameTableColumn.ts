import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { table, toTable } from '../../models/table.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { updateTable } from '../../store/bot-tables.ts'
import { definitionOf, existingTable, toStoredDefinition } from '../../tables/bot-table.ts'
import { assertNotFrozen } from '../../tables/change-table.ts'
import { assertColumnName, renameColumn } from '../../tables/definition.ts'
import { columnName, tableReference } from '../../tables/table-input.ts'

export const renameTableColumn = operation({
  name: 'renameTableColumn',
  description: 'Renames a column of a table; its values and attributes stay.',
  method: 'PUT',
  path: '/v1/tables/{table}/column',
  access: 'bot',
  mayTakeLong: true,
  recordsMembers: true,
  errors: ['AlreadyExists', 'RelationConflict'],
  input: closedObject({ table: tableReference, name: { type: 'string' }, newName: columnName }),
  output: closedObject({ table }),

  async handle(context, input) {
    const { name, newName } = input
    assertColumnName(newName)
    return {
      table: await once(context, input, async (db) => {
        const row = await existingTable(context, input.table, { db, isLocked: true })
        assertNotFrozen(row)
        if (!Object.hasOwn(row.columns, name)) {
          throw new ApiError('InvalidPayload', `name: the table has no column '${name.slice(0, 60)}'`)
        }
        if (name === newName) return toTable(row)
        if (Object.hasOwn(row.columns, newName)) {
          throw new ApiError('AlreadyExists', `The table has a column '${newName}' already`)
        }
        const renamed = toStoredDefinition(renameColumn(definitionOf(row), name, newName))
        const key_column = row.key_column === name ? newName : row.key_column
        return toTable(await updateTable(db, { ...row, ...renamed, key_column }))
      }),
    }
  },
})
