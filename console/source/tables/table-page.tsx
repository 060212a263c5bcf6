import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure } from '../api/ask.ts'
import type { Table } from '../api/types.ts'
import { formatCount } from '../format.ts'
import { Copy } from '../parts/copy.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { Time } from '../parts/time.tsx'
import { useAnswer } from '../state/resource.ts'
import { to } from '../state/route.ts'
import { columnsOf } from './column.ts'
import { Columns } from './columns.tsx'
import { RowPanel } from './row-panel.tsx'
import { Rows } from './rows.tsx'
import { TableActions } from './table-actions.tsx'
import { Transfers } from './transfers.tsx'

interface TablePageProps {
  botId: string
  tableId: string
  /** The id of the row beside the grid, or `new`. */
  row: string | undefined
}

/** One table: its rows, its columns, its imports and exports. */
export function TablePage({ botId, tableId, row }: TablePageProps): JSX.Element {
  const path = `/tables/${encodeURIComponent(tableId)}`
  const found = useAnswer<'getTable'>(path, { botId, every: 5000 })
  const [version, setVersion] = useState(0)
  useEffect(() => {
    if (version > 0) found.reload()
  }, [version])
  const change = () => setVersion((version) => version + 1)
  if (found.error instanceof Failure && found.error.status === 404) {
    return (
      <Empty title="Table not found">
        <a class="button" href={to('bots', botId, 'tables')}>
          All tables
        </a>
      </Empty>
    )
  }
  return (
    <section aria-label="Table" class="tables">
      <nav class="toolbar" aria-label="Back">
        <a href={to('bots', botId, 'tables')}>All tables</a>
      </nav>
      <Loaded of={found}>
        {({ table, rows }) => {
          const columns = columnsOf(table)
          return (
            <>
              <Properties botId={botId} table={table} rows={rows} onChange={change} />
              <div class={`events with-rows ${row === undefined ? '' : 'with-event'}`}>
                <Rows botId={botId} table={table} columns={columns} total={rows} version={version} onChange={change} />
                {row !== undefined && (
                  <RowPanel key={row} botId={botId} table={table} columns={columns} row={row} onChange={change} />
                )}
              </div>
              <Columns botId={botId} table={table} columns={columns} onChange={change} />
              <Transfers botId={botId} table={table} onImported={change} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

interface PropertiesProps {
  botId: string
  table: Table
  rows: number
  onChange: () => void
}

function Properties({ botId, table, rows, onChange }: PropertiesProps): JSX.Element {
  return (
    <article class="panel file-properties">
      <header>
        <h2>{table.name}</h2>
        {table.frozen && <span class="chip">frozen</span>}
      </header>
      <dl class="facts-grid">
        <div>
          <dt>Rows</dt>
          <dd>{formatCount(rows)}</dd>
        </div>
        <div>
          <dt>Key column</dt>
          <dd>{table.keyColumn ?? 'none'}</dd>
        </div>
        <div>
          <dt>Factor</dt>
          <dd>{table.factor}</dd>
        </div>
        <div>
          <dt>Changed</dt>
          <dd>
            <Time at={table.updatedAt} />
          </dd>
        </div>
      </dl>
      <footer class="toolbar">
        <Copy text={table.id} label="id" />
        <span class="spacer" />
        <TableActions botId={botId} table={table} rows={rows} onChange={onChange} />
      </footer>
    </article>
  )
}
