import type { JSX } from 'preact'
import type { TabProps } from '../bot/tab.ts'
import { Empty } from '../parts/loaded.tsx'
import { mayChange } from '../state/session.ts'
import { TableList } from './table-list.tsx'
import { TablePage } from './table-page.tsx'

/** The tables of the bot: their list, or one of them with its rows. */
export function TablesTab({ bot, segments: [tableId, row] }: TabProps): JSX.Element {
  if (!mayChange.value) {
    return (
      <Empty title="Tables are for developers">
        <p>They may hold personal data. Ask an administrator of the workspace for the role of a developer.</p>
      </Empty>
    )
  }
  return tableId === undefined ? (
    <TableList botId={bot.id} />
  ) : (
    <TablePage key={tableId} botId={bot.id} tableId={tableId} row={row} />
  )
}
