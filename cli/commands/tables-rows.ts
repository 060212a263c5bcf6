import type { Command } from 'commander'
import { misused } from '../failure.ts'
import { readCount } from '../read-count.ts'
import { readJson } from '../read-json.ts'
import { toolsOf } from '../tools.ts'

interface RowsOptions {
  filter?: string
  group?: string
  order?: string
  desc?: boolean
  search?: string
  select?: string
  lines: string
  offset: string
}

export function addRows(tables: Command): void {
  tables
    .command('rows')
    .argument('<bot>', 'the bot’s id or name')
    .argument('<table>', 'the table’s id or name')
    .description(
      'Finds rows of a table, with the filters of docs/finding-rows.md. Long values are cut; --json has all of them.',
    )
    .option('--filter <json>', 'only rows that match')
    .option('--group <json>', 'groups with their keys and aggregations, in place of rows')
    .option('--order <column>', 'the column, or path, to order by (default: id)')
    .option('--desc', 'in descending order')
    .option('--search <words>', 'order by nearness to a text')
    .option('--select <columns>', 'only these columns, separated by commas')
    .option('-n, --lines <number>', 'the number of rows, at most 1000', '20')
    .option('--offset <number>', 'the number of rows to skip', '0')
    .addHelpText(
      'after',
      `\nExample:\n  $ isobot tables rows greeter ordersTable --filter '{ "total": { "$gte": 10 } }' --order total --desc\n`,
    )
    .action(async (idOrName: string, table: string, options: RowsOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const request = toRequest(options)
      const [{ findBot }, { findRows, formatRows, getTable }] = await Promise.all([
        import('../find-bot.ts'),
        import('../tables/bot-tables.ts'),
      ])
      const connection = await connect()
      const { id: botId } = await findBot(connection, idOrName)
      const finding = findRows(connection, botId, table, request)
      const found = await output.during('Finding rows', finding)
      for (const warning of found.warnings ?? []) output.note(warning)
      if (output.isJson) return output.result({ botId, ...found }, '')
      const { schema } = (await getTable(connection, botId, table)).table
      output.result(found, () => formatRows(found, Object.keys(schema.properties)))
    })
}

/** The body of `findTableRows`. @throws Failure */
function toRequest(options: RowsOptions): Record<string, unknown> {
  const { filter, group, order, desc, search, select, lines, offset } = options
  if (!/^\d{1,9}$/.test(offset)) throw misused(`--offset takes a number of rows, not "${offset}"`)
  return {
    ...(filter !== undefined && { filter: readJson(filter, '--filter') }),
    ...(group !== undefined && { group: readJson(group, '--group') }),
    ...(order !== undefined && { orderBy: order }),
    ...(desc && { orderDirection: 'desc' }),
    ...(search !== undefined && { search }),
    ...(select !== undefined && { select: select.split(',').map((column) => column.trim()) }),
    limit: readCount(lines),
    offset: Number(offset),
  }
}
