import type { Context } from '../context.ts'
import { readIndexingBacklog, readStoredTotals } from '../store/stored-totals.ts'

/** Adds the gauges of files and tables. All processes report the same values. */
export function exposeContentMetrics({ db, metrics: { gauge } }: Pick<Context, 'db' | 'metrics'>): void {
  gauge({
    name: 'stored_items',
    help: 'Files, tables and rows of tables of all bots',
    labels: ['kind'],
    read: async () => {
      const { files, tables, tableRows } = await readStoredTotals(db)
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
    read: async () => [[{}, (await readStoredTotals(db)).fileBytes]],
  })
  gauge({
    name: 'files_to_index',
    help: 'Files that wait to be indexed',
    read: async () => [[{}, (await readIndexingBacklog(db)).files]],
  })
  gauge({
    name: 'oldest_file_to_index_seconds',
    help: 'Time that the first of them has waited',
    read: async () => [[{}, (await readIndexingBacklog(db)).oldestSeconds]],
  })
}
