import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, explain } from '../api/ask.ts'
import type { TableRow } from '../api/types.ts'
import { Select } from '../parts/choice.tsx'
import { SaveButton } from '../parts/save-button.tsx'
import { useHeightOf } from '../parts/use-height-of.ts'
import { Waiting } from '../parts/waiting.tsx'
import { Drafts } from '../state/drafts.ts'
import { notify } from '../state/notices.ts'
import { query } from '../state/route.ts'
import { useUnsaved } from '../state/unsaved.ts'
import { fromText, toText } from './cell.ts'
import { kinds, type TableColumn } from './column.ts'

interface RowFormProps {
  botId: string
  tableId: string
  columns: TableColumn[]
  /** Absent of a new row. */
  row?: TableRow
  onSaved: (id: number) => void
}

/** The text of each field that was changed, by column; null for no value. */
type Draft = ReadonlyMap<string, string | null>

/** Changes that are not saved, by table and row. */
const drafts = new Drafts<Draft>()

/** A field for each column of a row. Only changed ones are sent, so that it does not undo changes of others. */
export function RowForm({ botId, tableId, columns, row, onSaved }: RowFormProps): JSX.Element {
  const key = `${tableId} ${row?.id ?? 'new'}`
  const [draft, setDraft] = useState<Draft>(() => drafts.get(key) ?? new Map())
  const keep = (next: Draft) => {
    drafts.set(key, next)
    setDraft(next)
  }
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    setIsBusy(true)
    try {
      const id = await store(botId, tableId, row?.id, valuesOf(draft, columns))
      notify('good', row ? `Row ${id} is saved.` : `Row ${id} is added.`)
      setProblem('')
      // Text that was typed during the save stays.
      keep(new Map([...(drafts.get(key) ?? [])].filter(([name, text]) => draft.get(name) !== text)))
      onSaved(id)
    } catch (error) {
      setProblem(explain(error))
    }
    setIsBusy(false)
  }
  useUnsaved(draft.size > 0)
  return (
    <form class="row-form" onSubmit={save}>
      {columns.map((column) => {
        const { name, kind } = column
        const stored = row?.[name]
        const text = draft.get(name)
        return (
          <RowField
            key={name}
            column={column}
            text={text === undefined ? (isNone(stored) ? null : toText(stored, kind)) : text}
            onChange={(next) => keep(new Map(draft).set(name, next))}
          />
        )
      })}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <p class="toolbar">
        <SaveButton
          label={row ? 'Save' : 'Add'}
          isPrimary
          isInactive={isBusy || (row !== undefined && draft.size === 0)}
        />
        {draft.size > 0 && (
          <button type="button" class="button" onClick={() => keep(new Map())}>
            Undo changes
          </button>
        )}
        <Waiting isBusy={isBusy} />
      </p>
    </form>
  )
}

const isNone = (value: unknown) => value === null || value === undefined

function valuesOf(draft: Draft, columns: TableColumn[]): Record<string, unknown> {
  const changed = columns.filter(({ name }) => draft.has(name))
  return Object.fromEntries(
    changed.map(({ name, kind }) => {
      const text = draft.get(name)!
      return [name, text === null ? null : fromText(text, kind, name)]
    }),
  )
}

/** @throws Error with the reason why the row is not stored, which is part of an answer of status 200 */
async function store(botId: string, tableId: string, id: number | undefined, values: object): Promise<number> {
  const path = `/tables/${tableId}/rows`
  const row = id === undefined ? values : { ...values, id }
  const { rows, errors } = await (id === undefined
    ? ask<'createTableRows'>('POST', path, { botId, body: { rows: [row] } })
    : ask<'updateTableRows'>('PUT', path, { botId, body: { rows: [row] } }))
  const [stored] = rows
  if (stored) return stored.id
  throw new Error(errors?.[0]?.replace(/^rows\[0\]\.?/, '') ?? 'The row is not stored')
}

interface RowFieldProps {
  column: TableColumn
  /** Null for no value. */
  text: string | null
  onChange: (text: string | null) => void
}

function RowField({ column, text, onChange }: RowFieldProps): JSX.Element {
  const { name, kind, isNullable } = column
  const area = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  useHeightOf(text ?? '', field)
  const isOpenedAt = query.value.get('column') === name
  useEffect(() => {
    if (isOpenedAt) area.current?.querySelector<HTMLElement>('textarea, input, select')?.focus()
  }, [isOpenedAt])
  const choices = kind === 'boolean' ? ['true', 'false'] : column.choices
  return (
    <div class="field" ref={area}>
      <span class="field-name">
        {name} <span class="quiet">{kinds[kind]}</span>
        {kind === 'string' && isNullable && text !== null && (
          <button type="button" class="button small" aria-label={`No value for ${name}`} onClick={() => onChange(null)}>
            No value
          </button>
        )}
      </span>
      {choices ? (
        <Select
          label={name}
          options={[{ value: '', label: 'No value' }, ...choices.map((value) => ({ value, label: value }))]}
          value={text ?? ''}
          onChange={(next) => onChange(next === '' ? null : next)}
        />
      ) : kind === 'number' || kind === 'time' ? (
        <input
          aria-label={name}
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          placeholder="No value"
          value={text ?? ''}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : (
        <textarea
          ref={field}
          aria-label={name}
          class={kind === 'string' ? 'prose' : ''}
          rows={kind === 'string' ? 1 : 3}
          placeholder={text === null ? 'No value' : 'Empty text'}
          value={text ?? ''}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </div>
  )
}
