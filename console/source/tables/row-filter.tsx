import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { explain } from '../api/ask.ts'
import { Select } from '../parts/choice.tsx'
import { Icon } from '../parts/icons.tsx'
import { query, setQuery } from '../state/route.ts'
import { shorten } from './cell.ts'
import type { Kind, TableColumn } from './column.ts'
import { conditionsOf, joinConditions, operators, parseFilter, toCondition, type Filter } from './filter.ts'

const systemColumns: { name: string; kind: Kind }[] = [
  { name: 'id', kind: 'number' },
  { name: 'createdAt', kind: 'time' },
  { name: 'updatedAt', kind: 'time' },
]

const setFilter = (filter: string) => setQuery({ filter, offset: '' })

/** The filter of the rows: its conditions, a form that adds one, and the whole as JSON. */
export function RowFilter({ columns }: { columns: TableColumn[] }): JSX.Element {
  const text = query.value.get('filter') ?? ''
  const conditions = readConditions(text)
  return (
    <div class="row-filter">
      <ConditionForm
        columns={[...columns, ...systemColumns]}
        onAdd={(one) => setFilter(joinConditions([...(conditions ?? []), one]))}
      />
      {conditions && conditions.length > 0 && (
        <p class="chips">
          {conditions.map((condition, index) => (
            <button
              key={index}
              type="button"
              class="chip"
              title="Remove this condition"
              onClick={() => setFilter(joinConditions(conditions.toSpliced(index, 1)))}
            >
              <code>{shorten(condition)}</code>
              <Icon name="close" />
            </button>
          ))}
        </p>
      )}
      <JsonFilter text={text} />
    </div>
  )
}

/** The conditions of a filter; undefined where the text is none. */
function readConditions(text: string): Filter[] | undefined {
  try {
    return conditionsOf(parseFilter(text))
  } catch {
    return undefined
  }
}

interface ConditionFormProps {
  columns: { name: string; kind: Kind }[]
  onAdd: (condition: Filter) => void
}

function ConditionForm({ columns, onAdd }: ConditionFormProps): JSX.Element {
  const [chosen, setChosen] = useState('')
  const [operator, setOperator] = useState('')
  const [value, setValue] = useState('')
  const [problem, setProblem] = useState('')
  const column = columns.find(({ name }) => name === chosen) ?? columns[0]!
  const offered = Object.entries(operators).filter(([, { kinds }]) => kinds.includes(column.kind))
  const [current, { takesValue }] = offered.find(([name]) => name === operator) ?? offered[0]!
  const add = (event: Event) => {
    event.preventDefault()
    try {
      onAdd(toCondition(column.name, column.kind, current, value))
      setValue('')
      setProblem('')
    } catch (error) {
      setProblem(explain(error))
    }
  }
  return (
    <form class="toolbar" aria-label="Filter" onSubmit={add}>
      <Select
        label="Column"
        options={columns.map(({ name }) => ({ value: name, label: name }))}
        value={column.name}
        onChange={setChosen}
      />
      <Select
        label="Condition"
        options={offered.map(([name, { label }]) => ({ value: name, label }))}
        value={current}
        onChange={setOperator}
      />
      {takesValue && (
        <input
          class="filter-value"
          aria-label="Value"
          placeholder={placeholders[current === '$in' ? 'any' : column.kind]}
          value={value}
          onInput={({ currentTarget }) => setValue(currentTarget.value)}
        />
      )}
      <button type="submit" class="button">
        Add filter
      </button>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}

const placeholders: Record<Kind, string> = {
  string: 'Text',
  number: '12.5',
  boolean: 'true',
  time: '2026-11-22T10:00:00Z',
  object: '{ "name": "value" }',
  array: '[1, 2]',
  any: '"text", 12 or true',
}

function JsonFilter({ text }: { text: string }): JSX.Element {
  const [draft, setDraft] = useState(text)
  const [problem, setProblem] = useState('')
  useEffect(() => setDraft(text), [text])
  const apply = (event: Event) => {
    event.preventDefault()
    try {
      const filter = parseFilter(draft)
      setProblem('')
      setFilter(Object.keys(filter).length === 0 ? '' : JSON.stringify(filter))
    } catch (error) {
      setProblem(explain(error))
    }
  }
  return (
    <details>
      <summary>Filter as JSON</summary>
      <form onSubmit={apply}>
        <textarea
          aria-label="Filter as JSON"
          rows={3}
          spellcheck={false}
          placeholder={'{ "status": { "$in": ["open", "pending"] }, "total": { "$gte": 18 } }'}
          value={draft}
          onInput={({ currentTarget }) => setDraft(currentTarget.value)}
        />
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="button small">
          Apply
        </button>
      </form>
    </details>
  )
}
