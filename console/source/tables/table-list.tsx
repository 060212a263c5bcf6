import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { allPages } from '../api/all-pages.ts'
import { ask } from '../api/ask.ts'
import type { Table } from '../api/types.ts'
import { plural } from '../format.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { Time } from '../parts/time.tsx'
import { useAnswer, useResource } from '../state/resource.ts'
import { navigate, to } from '../state/route.ts'
import { columnsOf } from './column.ts'

/** The tables of the bot, with their columns and the numbers of their rows. */
export function TableList({ botId }: { botId: string }): JSX.Element {
  const tables = useResource(`/tables of ${botId}`, (abort) => loadTables(botId, abort), { every: 10_000 })
  const [isCreating, setIsCreating] = useState(false)
  return (
    <section class="tables" aria-label="Tables">
      <div class="toolbar">
        <span class="spacer" />
        <button type="button" class="button primary" onClick={() => setIsCreating(true)}>
          <Icon name="plus" />
          New table
        </button>
      </div>
      <Loaded of={tables}>
        {(tables) =>
          tables.length === 0 ? (
            <Empty title="No table yet">
              <p>
                Create one with the button. Bots create tables with <code>client.getOrCreateTable</code>.
              </p>
            </Empty>
          ) : (
            <ol class="plain lines panel table-list" aria-label="Tables, oldest first" onKeyDown={moveBetweenRows}>
              {tables.map((table) => (
                <TableLine key={table.id} botId={botId} table={table} />
              ))}
            </ol>
          )
        }
      </Loaded>
      {isCreating && <CreateTable botId={botId} onClose={() => setIsCreating(false)} />}
    </section>
  )
}

function loadTables(botId: string, abort: AbortSignal): Promise<Table[]> {
  return allPages(async (nextToken) => {
    const page = await ask<'listTables'>('GET', '/tables', { botId, query: { nextToken }, abort })
    return { items: page.tables, nextToken: page.meta.nextToken }
  })
}

function TableLine({ botId, table }: { botId: string; table: Table }): JSX.Element {
  const columns = columnsOf(table)
  const counted = useAnswer<'getTable'>(`/tables/${table.id}`, { botId })
  return (
    <li>
      <div>
        <a href={to('bots', botId, 'tables', table.id)} data-row>
          {table.name}
        </a>
        <p class="quiet column-names">{columns.map(({ name }) => name).join(', ') || 'No columns'}</p>
      </div>
      <span class="number quiet">{plural(columns.length, 'column')}</span>
      <span class="number quiet">{counted.data ? plural(counted.data.rows, 'row') : '…'}</span>
      <span class="number quiet">
        <Time at={table.updatedAt} />
      </span>
    </li>
  )
}

function CreateTable({ botId, onClose }: { botId: string; onClose: () => void }): JSX.Element {
  const [name, setName] = useState('')
  const create = async () => {
    const body = { name: name.trim(), schema: { type: 'object', properties: {} } }
    const { table } = await ask<'createTable'>('POST', '/tables', { botId, body })
    navigate(to('bots', botId, 'tables', table.id))
  }
  return (
    <Confirm title="New table" action="Create" onSubmit={create} onClose={onClose}>
      <Field label="Name" autoFocus maxLength={50} placeholder="ordersTable" value={name} onChange={setName} />
      <p class="quiet">Letters, digits and underscores; it ends in “Table”.</p>
    </Confirm>
  )
}
