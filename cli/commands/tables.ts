import type { Command } from 'commander'
import { localTime, table } from '../output.ts'
import { toolsOf } from '../tools.ts'
import { addExport, addImport } from './tables-files.ts'
import { addRows } from './tables-rows.ts'

export function addTablesCommand(program: Command): void {
  const tables = program
    .command('tables')
    .summary('list, show, create, import, export and delete the tables of a bot, and find their rows')
    .description('The tables of a bot. A TABLE is an id or a name.')
    .addHelpText('after', '\nExample:\n  $ isobot tables list greeter\n')
  addList(tables)
  addShow(tables)
  addRows(tables)
  addCreate(tables)
  addImport(tables)
  addExport(tables)
  addDelete(tables)
}

const botArgument = ['<bot>', 'the bot’s id or name'] as const
const tableArgument = ['<table>', 'the table’s id or name'] as const

function addList(tables: Command): void {
  tables
    .command('list')
    .argument(...botArgument)
    .description('Lists the tables of a bot.')
    .addHelpText('after', '\nExample:\n  $ isobot tables list greeter --json | jq -r .tables[].name\n')
    .action(async (idOrName: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot }, { listTables }] = await Promise.all([
        import('../find-bot.ts'),
        import('../tables/bot-tables.ts'),
      ])
      const connection = await connect()
      const { id, name } = await findBot(connection, idOrName)
      const found = await output.during('Listing tables', listTables(connection, id))
      output.result({ botId: id, tables: found }, () => {
        if (found.length === 0) return `${name} has no tables`
        const rows = found.map(({ name, id, schema, keyColumn, updatedAt }) => {
          const columns = Object.keys(schema.properties).length
          return [name, id, String(columns), keyColumn ?? '', localTime(updatedAt)]
        })
        return table(['NAME', 'ID', 'COLUMNS', 'KEY', 'UPDATED'], rows)
      })
    })
}

function addShow(tables: Command): void {
  tables
    .command('show')
    .argument(...botArgument)
    .argument(...tableArgument)
    .description('Shows the columns of a table, and the number of its rows.')
    .addHelpText('after', '\nExample:\n  $ isobot tables show greeter ordersTable\n')
    .action(async (idOrName: string, name: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot }, { getTable, formatTable }] = await Promise.all([
        import('../find-bot.ts'),
        import('../tables/bot-tables.ts'),
      ])
      const connection = await connect()
      const { id: botId } = await findBot(connection, idOrName)
      const found = await getTable(connection, botId, name)
      output.result(found, () => formatTable(found))
    })
}

interface CreateOptions {
  keyColumn?: string
  factor?: string
  frozen?: boolean
}

function addCreate(tables: Command): void {
  tables
    .command('create')
    .argument(...botArgument)
    .argument('<name>', 'the table’s name, which ends in Table')
    .argument('<schema>', 'a file with the schema, as JSON; - is standard input')
    .description(
      'Creates a table. The schema is a JSON Schema with properties, or a map of columns to schemas or examples.',
    )
    .option('--key-column <column>', 'no two rows have one value in this column')
    .option('--factor <number>', 'a row may have 4 KB each, and counts as that many rows: 1 to 30')
    .option('--frozen', 'name and columns never change')
    .addHelpText('after', '\nExample:\n  $ isobot tables create greeter ordersTable orders.json --key-column number\n')
    .action(async (idOrName: string, name: string, file: string, options: CreateOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot }, { createTable, formatTable, getTable, readFactor }, { readJsonFile }] = await Promise.all([
        import('../find-bot.ts'),
        import('../tables/bot-tables.ts'),
        import('../read-json.ts'),
      ])
      const { keyColumn, frozen } = options
      const fields = {
        name,
        schema: await readJsonFile(file),
        ...(keyColumn !== undefined && { keyColumn }),
        ...(options.factor !== undefined && { factor: readFactor(options.factor) }),
        ...(frozen && { frozen }),
      }
      const connection = await connect()
      const { id: botId } = await findBot(connection, idOrName)
      const { id } = await createTable(connection, botId, fields)
      const created = await getTable(connection, botId, id)
      output.result({ table: created.table }, () => formatTable(created))
    })
}

function addDelete(tables: Command): void {
  tables
    .command('delete')
    .argument(...botArgument)
    .argument(...tableArgument)
    .description('Deletes a table with its rows, after a confirmation.')
    .option('-y, --yes', 'skip the confirmation')
    .addHelpText('after', '\nExample:\n  $ isobot tables delete greeter ordersTable --yes\n')
    .action(async (idOrName: string, tableName: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot }, { confirm }, { deleteTable, getTable }] = await Promise.all([
        import('../find-bot.ts'),
        import('../confirm.ts'),
        import('../tables/bot-tables.ts'),
      ])
      const connection = await connect()
      const bot = await findBot(connection, idOrName)
      const { table, rows } = await getTable(connection, bot.id, tableName)
      const { id, name } = table
      await confirm(`Delete the table ${name} (${id}) of ${bot.name} with ${rows} rows?`, yes)
      await output.during('Deleting the table', deleteTable(connection, bot.id, id))
      output.result({ deleted: { id, name, rows } }, `Deleted ${name} (${id})`)
    })
}
