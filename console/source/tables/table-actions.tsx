import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Table } from '../api/types.ts'
import { plural } from '../format.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { notify } from '../state/notices.ts'
import { navigate, to } from '../state/route.ts'

interface TableActionsProps {
  botId: string
  table: Table
  rows: number
  onChange: () => void
}

/** Renames, duplicates and deletes a table. */
export function TableActions({ botId, table, rows, onChange }: TableActionsProps): JSX.Element {
  const [dialog, setDialog] = useState<'rename' | 'duplicate' | 'delete'>()
  const [name, setName] = useState('')
  const path = `/tables/${table.id}`
  const open = (next: 'rename' | 'duplicate') => {
    setName(next === 'rename' ? table.name : '')
    setDialog(next)
  }
  const close = () => setDialog(undefined)
  const rename = async () => {
    await ask<'updateTable'>('PUT', path, { botId, body: { name: name.trim() } })
    onChange()
  }
  const duplicate = async () => {
    const copy = await ask<'duplicateTable'>('POST', `${path}/duplicate`, { botId, body: { tableName: name.trim() } })
    notify('good', `“${copy.table.name}” has ${plural(copy.rows, 'row')}.`)
    navigate(to('bots', botId, 'tables', copy.table.id))
  }
  const remove = async () => {
    await ask<'deleteTable'>('DELETE', path, { botId })
    notify('good', `“${table.name}” is deleted.`)
    navigate(to('bots', botId, 'tables'))
  }
  return (
    <>
      <button type="button" class="button" disabled={table.frozen} onClick={() => open('rename')}>
        Rename
      </button>
      <button type="button" class="button" onClick={() => open('duplicate')}>
        Duplicate
      </button>
      <button type="button" class="button" onClick={() => setDialog('delete')}>
        Delete
      </button>
      {dialog === 'rename' && (
        <Confirm title="Rename the table" action="Rename" onSubmit={rename} onClose={close}>
          <Field label="Name" autoFocus maxLength={50} value={name} onChange={setName} />
          <p class="quiet">Code that uses the former name no longer finds the table.</p>
        </Confirm>
      )}
      {dialog === 'duplicate' && (
        <Confirm title="Duplicate the table" action="Duplicate" onSubmit={duplicate} onClose={close}>
          <Field label="Name of the copy" autoFocus maxLength={50} value={name} onChange={setName} />
          <p class="quiet">The copy has the columns and the rows of this table.</p>
        </Confirm>
      )}
      {dialog === 'delete' && (
        <Confirm title="Delete the table" action="Delete" isDangerous onSubmit={remove} onClose={close}>
          <p>
            “{table.name}” and its {plural(rows, 'row')} are deleted. Nothing brings them back.
          </p>
        </Confirm>
      )}
    </>
  )
}
