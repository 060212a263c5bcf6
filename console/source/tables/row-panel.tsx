import type { JSX } from 'preact'
import { Failure } from '../api/ask.ts'
import type { Table } from '../api/types.ts'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { SidePanel } from '../parts/side-panel.tsx'
import { Time } from '../parts/time.tsx'
import { useAnswer } from '../state/resource.ts'
import { navigate, to } from '../state/route.ts'
import type { TableColumn } from './column.ts'
import { RowForm } from './row-form.tsx'

interface RowPanelProps {
  botId: string
  table: Table
  columns: TableColumn[]
  /** The id of the row, or `new`. */
  row: string
  onChange: () => void
}

/** One row beside the grid, with its values whole. */
export function RowPanel({ botId, table, columns, row, onChange }: RowPanelProps): JSX.Element {
  const isNew = row === 'new'
  const path = isNew ? undefined : `/tables/${table.id}/row`
  const found = useAnswer<'getTableRow'>(path, { botId, query: { id: row } })
  const list = to('bots', botId, 'tables', table.id)
  const back = list + withoutColumn()
  const save = (id: number) => {
    onChange()
    if (isNew) navigate(`${list}/${id}${withoutColumn()}`)
    else found.reload()
  }
  const isGone = found.error instanceof Failure && (found.error.status === 404 || found.error.status === 400)
  return (
    <SidePanel label="Row" back={back} backLabel="Rows">
      {isNew ? (
        <>
          <h2>New row</h2>
          <RowForm botId={botId} tableId={table.id} columns={columns} onSaved={save} />
        </>
      ) : isGone ? (
        <Empty title="Row not found">
          <p>It was deleted.</p>
        </Empty>
      ) : (
        <Loaded of={found} lines={6}>
          {({ row }) => (
            <>
              <h2>Row {row.id}</h2>
              <p class="facts quiet">
                <span>
                  Created <Time at={row.createdAt!} />
                </span>
                <span>
                  Changed <Time at={row.updatedAt!} />
                </span>
              </p>
              <RowForm botId={botId} tableId={table.id} columns={columns} row={row} onSaved={save} />
            </>
          )}
        </Loaded>
      )}
    </SidePanel>
  )
}

/** The query of the page without the column at which a row was opened. */
function withoutColumn(): string {
  const search = new URLSearchParams(location.search)
  search.delete('column')
  const parameters = search.toString()
  return parameters && `?${parameters}`
}
