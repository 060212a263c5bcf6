import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Table } from '../api/types.ts'
import { Select } from '../parts/choice.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icons.tsx'
import { columnChange, kinds, schemaOfKind, type Kind, type TableColumn } from './column.ts'

interface ColumnsProps {
  botId: string
  table: Table
  columns: TableColumn[]
  onChange: () => void
}

/** The columns of a table with their types. Adds, renames and removes them, unless the table is frozen. */
export function Columns({ botId, table, columns, onChange }: ColumnsProps): JSX.Element {
  const [isAdding, setIsAdding] = useState(false)
  const [renamed, setRenamed] = useState<string>()
  const [removed, setRemoved] = useState<string>()
  const [name, setName] = useState('')
  const path = `/tables/${table.id}`
  const rename = async () => {
    await ask<'renameTableColumn'>('PUT', `${path}/column`, { botId, body: { name: renamed, newName: name } })
    onChange()
  }
  const remove = async () => {
    await ask<'updateTable'>('PUT', path, { botId, body: columnChange(removed!, null) })
    onChange()
  }
  return (
    <section aria-labelledby="columns">
      <div class="toolbar">
        <h2 id="columns">Columns</h2>
        <span class="spacer" />
        <button type="button" class="button" disabled={table.frozen} onClick={() => setIsAdding(true)}>
          <Icon name="plus" />
          Add a column
        </button>
      </div>
      {columns.length === 0 ? (
        <p class="quiet">None yet.</p>
      ) : (
        <ul class="plain lines panel column-list" aria-label="Columns">
          {columns.map((column) => (
            <li key={column.name}>
              <span>{column.name}</span>
              <span class="quiet">{describe(column, table.keyColumn)}</span>
              <span class="actions">
                <button
                  type="button"
                  class="button small"
                  aria-label={`Rename ${column.name}`}
                  disabled={table.frozen}
                  onClick={() => {
                    setName(column.name)
                    setRenamed(column.name)
                  }}
                >
                  Rename
                </button>
                <button
                  type="button"
                  class="button small"
                  aria-label={`Remove ${column.name}`}
                  disabled={table.frozen}
                  onClick={() => setRemoved(column.name)}
                >
                  Remove
                </button>
              </span>
            </li>
          ))}
        </ul>
      )}
      {isAdding && <AddColumn botId={botId} table={table} onAdded={onChange} onClose={() => setIsAdding(false)} />}
      {renamed !== undefined && (
        <Confirm title="Rename the column" action="Rename" onSubmit={rename} onClose={() => setRenamed(undefined)}>
          <Field label="Name" autoFocus maxLength={30} value={name} onChange={setName} />
          <p class="quiet">Its values stay. Code that uses the former name no longer finds them.</p>
        </Confirm>
      )}
      {removed !== undefined && (
        <Confirm
          title="Remove the column"
          action="Remove"
          isDangerous
          onSubmit={remove}
          onClose={() => setRemoved(undefined)}
        >
          <p>“{removed}” and its values in all rows are deleted. Nothing brings them back.</p>
        </Confirm>
      )}
    </section>
  )
}

/** "text, key, searchable". */
function describe({ name, kind, isNullable, isRequired, isSearchable }: TableColumn, key: string | null): string {
  const marks = [
    name === key && 'key',
    isRequired && 'required',
    !isNullable && 'never null',
    isSearchable && 'searchable',
  ]
  return [kinds[kind], ...marks.filter((mark) => mark !== false)].join(', ')
}

interface AddColumnProps {
  botId: string
  table: Table
  onAdded: () => void
  onClose: () => void
}

function AddColumn({ botId, table, onAdded, onClose }: AddColumnProps): JSX.Element {
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Kind>('string')
  const [isSearchable, setIsSearchable] = useState(false)
  const add = async () => {
    // A name that exists would change that column, and delete its values where the type differs.
    if (Object.hasOwn(table.schema.properties, name)) throw new Error(`The table has a column “${name}” already`)
    const body = columnChange(name, schemaOfKind(kind, isSearchable))
    await ask<'updateTable'>('PUT', `/tables/${table.id}`, { botId, body })
    onAdded()
  }
  return (
    <Confirm title="Add a column" action="Add" onSubmit={add} onClose={onClose}>
      <Field label="Name" autoFocus maxLength={30} value={name} onChange={setName} />
      <div class="field">
        <span>Type</span>
        <Select
          label="Type"
          options={Object.entries(kinds).map(([value, label]) => ({ value: value as Kind, label }))}
          value={kind}
          onChange={setKind}
        />
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={isSearchable}
          onChange={({ currentTarget }) => setIsSearchable(currentTarget.checked)}
        />
        Searches look at it
      </label>
    </Confirm>
  )
}
