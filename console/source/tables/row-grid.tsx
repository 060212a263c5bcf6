import type { JSX } from 'preact'
import type { TableRow } from '../api/types.ts'
import { formatShare } from '../format.ts'
import { moveBetweenRows } from '../parts/rows.ts'
import { Time } from '../parts/time.tsx'
import { navigate, setQuery, to } from '../state/route.ts'
import { shorten } from './cell.ts'
import { hasOrder, kinds, type TableColumn } from './column.ts'

interface Order {
  column: string
  direction: 'asc' | 'desc'
}

interface RowGridProps {
  botId: string
  tableId: string
  columns: TableColumn[]
  rows: TableRow[]
  order: Order
  selected: ReadonlySet<number>
  onSelect: (selected: ReadonlySet<number>) => void
}

/**
 * Rows in a grid, with the start of each value. The id of a row opens it, and so does a click on a cell, at the field of
 * its column.
 */
export function RowGrid({ botId, tableId, columns, rows, order, selected, onSelect }: RowGridProps): JSX.Element {
  const isRanked = rows.some(({ similarity }) => similarity !== undefined)
  const address = (id: number, column = '') => {
    const search = new URLSearchParams(location.search)
    if (column === '') search.delete('column')
    else search.set('column', column)
    const parameters = search.toString()
    return to('bots', botId, 'tables', tableId, String(id)) + (parameters && `?${parameters}`)
  }
  const isAll = rows.every(({ id }) => selected.has(id))
  const toggle = (id: number) => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    onSelect(next)
  }
  return (
    <div class="row-grid" role="region" aria-label="Grid of rows" tabIndex={0}>
      <table onKeyDown={moveBetweenRows}>
        <thead>
          <tr>
            <td>
              <input
                type="checkbox"
                aria-label="Select all rows of this page"
                checked={isAll}
                onChange={() => onSelect(new Set(isAll ? [] : rows.map(({ id }) => id)))}
              />
            </td>
            <Heading name="id" order={order} />
            {isRanked && <th scope="col">nearness</th>}
            {columns.map(({ name, kind }) => (
              <Heading key={name} name={name} type={kinds[kind]} order={hasOrder(kind) ? order : undefined} />
            ))}
            <Heading name="updatedAt" order={order} />
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} class={selected.has(row.id) ? 'is-selected' : ''}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Select row ${row.id}`}
                  checked={selected.has(row.id)}
                  onChange={() => toggle(row.id)}
                />
              </td>
              <th scope="row">
                <a href={address(row.id)} aria-label={`Row ${row.id}`} data-row>
                  {row.id}
                </a>
              </th>
              {isRanked && <td class="number">{formatShare(row.similarity ?? null)}</td>}
              {columns.map(({ name, kind }) => (
                <Cell key={name} value={row[name]} kind={kind} onClick={() => navigate(address(row.id, name))} />
              ))}
              <td class="number quiet">
                <Time at={row.updatedAt!} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface HeadingProps {
  name: string
  type?: string
  /** The order of the rows; undefined for a column by which they have none. */
  order: Order | undefined
}

const turned = { asc: 'desc', desc: 'asc' } as const

function Heading({ name, type, order }: HeadingProps): JSX.Element {
  const label = (
    <>
      {name}
      {type && <span class="quiet"> {type}</span>}
    </>
  )
  if (!order) return <th scope="col">{label}</th>
  const direction = order.column === name ? order.direction : undefined
  const sort = () => setQuery({ order: name, direction: direction ? turned[direction] : 'asc', offset: '' })
  return (
    <th scope="col" aria-sort={direction && (direction === 'asc' ? 'ascending' : 'descending')}>
      <button type="button" class="sort" title={`Order by ${name}`} onClick={sort}>
        {label}
        <span aria-hidden="true">{direction && (direction === 'asc' ? ' ↑' : ' ↓')}</span>
      </button>
    </th>
  )
}

interface CellProps {
  value: unknown
  kind: TableColumn['kind']
  onClick: () => void
}

function Cell({ value, kind, onClick }: CellProps): JSX.Element {
  const isNone = value === null || value === undefined
  return (
    <td class={kind === 'number' ? 'number cell' : 'cell'} dir="auto" onClick={onClick}>
      {isNone ? <span class="quiet">–</span> : value === '' ? <span class="quiet">empty</span> : shorten(value)}
    </td>
  )
}
