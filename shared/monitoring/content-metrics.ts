import type { Context } from '../context.ts'
import { readIndexingBacklog, readStoredTotals } from '../store/stored-totals.ts'
import { readInTime } from './read-in-time.ts'

/** Adds the gauges of files and tables. All processes report the same values. */
export function exposeContentMetrics({
  db,
  dependencies,
  metrics: { gauge },
}: Pick<Context, 'db' | 'dependencies' | 'metrics'>): void {
  const totals = () => readInTime(dependencies, () => readStoredTotals(db))
  const backlog = () => readInTime(dependencies, () => readIndexingBacklog(db))
  gauge({
    name: 'stored_items',
    help: 'Files, tables and rows of tables of all bots',
    labels: ['kind'],
    read: async () => {
      const { files, tables, tableRows } = await totals()
      return [
        [{ kind: 'files' }, files],
        [{ kind: 'tables' }, tables],
        [{ kind: 'table_rows' }, tableRows],
      ]
    },
  })
  gauge({
    name: 'file_bytes',
    help: 'Bytes of the files of all bots, as their quotas count them',
    read: async () => [[{}, (await totals()).fileBytes]],
  })
  gauge({
    name: 'files_to_index',
    help: 'Files that wait to be indexed',
    read: async () => [[{}, (await backlog()).files]],
  })
  gauge({
    name: 'oldest_file_to_index_seconds',
    help: 'Time that the first of them has waited',
    read: async () => [[{}, (await backlog()).oldestSeconds]],
  })
}
