import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Table, TableRow } from '../api/types.ts'
import { formatCount, plural } from '../format.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded, Refusal } from '../parts/loaded.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { notify } from '../state/notices.ts'
import { useResource } from '../state/resource.ts'
import { navigate, query, setQuery, to } from '../state/route.ts'
import type { TableColumn } from './column.ts'
import { parseFilter, type Filter } from './filter.ts'
import { RowFilter } from './row-filter.tsx'
import { RowGrid } from './row-grid.tsx'

const pageSize = 50

/** The query of the rows in the page's address. */
interface RowQuery {
  filter: Filter
  search: string
  orderBy: string
  direction: 'asc' | 'desc'
  offset: number
}

/** @throws Error when the filter in the address is none */
function queryOfPage(columns: TableColumn[]): RowQuery {
  const given = query.value
  return {
    filter: parseFilter(given.get('filter') ?? ''),
    search: columns.some(({ isSearchable }) => isSearchable) ? (given.get('text') ?? '') : '',
    orderBy: given.get('order') ?? '',
    direction: given.get('direction') === 'desc' ? 'desc' : 'asc',
    offset: Math.max(0, Math.trunc(Number(given.get('offset')) || 0)),
  }
}

interface RowsProps {
  botId: string
  table: Table
  columns: TableColumn[]
  /** The number of all rows of the table. */
  total: number
  /** Another number loads the rows anew. */
  version: number
  onChange: () => void
}

/** The rows of a table: a search, a filter, an order and pages of them; adding and deleting. */
export function Rows(props: RowsProps): JSX.Element {
  const { botId, table, columns } = props
  return (
    <section class="event-list" aria-labelledby="rows">
      <div class="toolbar">
        <h2 id="rows">Rows</h2>
        {columns.some(({ isSearchable }) => isSearchable) && (
          <SearchField
            label="Search rows"
            value={query.value.get('text') ?? ''}
            onChange={(text) => setQuery({ text, offset: '' })}
          />
        )}
        <span class="spacer" />
        <button
          type="button"
          class="button primary"
          disabled={columns.length === 0}
          onClick={() => navigate(to('bots', botId, 'tables', table.id, 'new') + location.search)}
        >
          <Icon name="plus" />
          Add a row
        </button>
      </div>
      <RowFilter columns={columns} />
      <FoundRows {...props} />
    </section>
  )
}

function FoundRows(props: RowsProps): JSX.Element {
  let found: RowQuery
  try {
    found = queryOfPage(props.columns)
  } catch (error) {
    return <Refusal error={error} />
  }
  return <QueriedRows {...props} {...found} />
}

function QueriedRows(props: RowsProps & RowQuery): JSX.Element {
  const { botId, table, columns, total, version, onChange, filter, search, orderBy, direction, offset } = props
  const path = `/tables/${table.id}/rows/find`
  const isFiltered = Object.keys(filter).length > 0
  const body = {
    limit: pageSize,
    offset,
    ...(isFiltered && { filter }),
    ...(search && { search }),
    ...(orderBy && { orderBy, orderDirection: direction }),
  }
  const key = `${botId} ${path} ${JSON.stringify(body)}`
  const load = async (abort: AbortSignal) => {
    const { rows, hasMore } = await ask<'findTableRows'>('POST', path, { botId, body, abort, isReading: true })
    // Without groups, these are rows of the table.
    return { rows: rows as TableRow[], hasMore }
  }
  const rows = useResource(key, load, { every: 10_000 })
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set())
  useEffect(() => {
    if (version > 0) rows.reload()
  }, [version])
  // Rows that are no longer shown are not deleted by accident.
  useEffect(() => setSelected(new Set()), [key])
  return (
    <>
      <DeleteRows
        botId={botId}
        tableId={table.id}
        selected={selected}
        onDeleted={() => {
          setSelected(new Set())
          onChange()
        }}
      />
      <Loaded of={rows} lines={8}>
        {({ rows, hasMore }) => (
          <>
            {rows.length === 0 ? (
              <NoRows isFiltered={isFiltered || search !== ''} isLater={offset > 0} hasColumns={columns.length > 0} />
            ) : (
              <RowGrid
                botId={botId}
                tableId={table.id}
                columns={columns}
                rows={rows}
                order={{ column: orderBy || (search ? '' : 'id'), direction }}
                selected={selected}
                onSelect={setSelected}
              />
            )}
            <Pages offset={offset} count={rows.length} hasMore={hasMore} {...(!isFiltered && { total })} />
          </>
        )}
      </Loaded>
    </>
  )
}

function NoRows({
  isFiltered,
  isLater,
  hasColumns,
}: {
  isFiltered: boolean
  isLater: boolean
  hasColumns: boolean
}): JSX.Element {
  if (isLater) return <Empty title="No further rows" />
  if (!isFiltered && !hasColumns) {
    return (
      <Empty title="No column yet">
        <p>Rows have values in columns: add one below, under “Columns”.</p>
      </Empty>
    )
  }
  if (!isFiltered) {
    return (
      <Empty title="No row yet">
        <p>
          Add one with the button, or import a file. Bots create rows with <code>client.createTableRows</code>.
        </p>
      </Empty>
    )
  }
  return (
    <Empty icon="search" title="No row matches">
      <button type="button" class="button" onClick={() => setQuery({ filter: '', text: '', offset: '' })}>
        Show all rows
      </button>
    </Empty>
  )
}

/** Shows the page that begins after so many rows. */
function showFrom(offset: number): void {
  setQuery({ offset: offset > 0 ? String(offset) : '' })
}

interface PagesProps {
  offset: number
  count: number
  hasMore: boolean
  /** The number of rows on all pages, where it is known. */
  total?: number
}

function Pages({ offset, count, hasMore, total }: PagesProps): JSX.Element | null {
  if (offset === 0 && count === 0) return null
  return (
    <nav class="toolbar row-pages" aria-label="Pages">
      <button type="button" class="button" disabled={offset === 0} onClick={() => showFrom(offset - pageSize)}>
        Previous
      </button>
      <button type="button" class="button" disabled={!hasMore} onClick={() => showFrom(offset + pageSize)}>
        Next
      </button>
      {count > 0 && (
        <span class="number quiet">
          Rows {formatCount(offset + 1)} to {formatCount(offset + count)}
          {total !== undefined && ` of ${formatCount(Math.max(total, offset + count))}`}
        </span>
      )}
    </nav>
  )
}

interface DeleteRowsProps {
  botId: string
  tableId: string
  selected: ReadonlySet<number>
  onDeleted: () => void
}

function DeleteRows({ botId, tableId, selected, onDeleted }: DeleteRowsProps): JSX.Element | null {
  const [isAsking, setIsAsking] = useState(false)
  if (selected.size === 0) return null
  const count = plural(selected.size, 'row')
  const remove = async () => {
    const body = { ids: [...selected] }
    const { deletedRows } = await ask<'deleteTableRows'>('POST', `/tables/${tableId}/rows/delete`, { botId, body })
    notify('good', `${plural(deletedRows, 'row')} deleted.`)
    onDeleted()
  }
  return (
    <div class="toolbar">
      <span>{count} selected</span>
      <button type="button" class="button danger" onClick={() => setIsAsking(true)}>
        <Icon name="trash" />
        Delete {count}
      </button>
      {isAsking && (
        <Confirm
          title={`Delete ${count}`}
          action="Delete"
          isDangerous
          onSubmit={remove}
          onClose={() => setIsAsking(false)}
        >
          <p>Nothing brings them back.</p>
        </Confirm>
      )}
    </div>
  )
}
