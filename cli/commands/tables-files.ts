import { basename } from 'node:path'
import type { Command } from 'commander'
import { readDuration } from '../duration.ts'
import { exitCodes, Failure, misused } from '../failure.ts'
import type { Job } from '../tables/table-jobs.ts'
import { toolsOf } from '../tools.ts'

const botArgument = ['<bot>', 'the bot’s id or name'] as const
const tableArgument = ['<table>', 'the table’s id or name'] as const
const waitOption = ['--wait <time>', 'how long to wait for the end', '10m'] as const
const keepOption = ['--keep', 'keep the file among those of the bot'] as const

interface ImportOptions {
  wait: string
  keep?: boolean
}

/** Columns that the table lacks are named among the errors of a job too. */
const isFailure = (error: string) => error.startsWith('records.')

/** Records whose failures people see; programs see all that the job has. */
const shownErrors = 20

export function addImport(tables: Command): void {
  tables
    .command('import')
    .argument(...botArgument)
    .argument(...tableArgument)
    .argument('<path>', 'a file in CSV or JSON, compressed by gzip or not; - is standard input')
    .description(
      'Writes a row for each record of a file. In a table with a key column a record changes the row that has its key. ' +
        'The command fails when a record does; the others are stored.',
    )
    .option(...waitOption)
    .option(...keepOption)
    .addHelpText('after', '\nExample:\n  $ isobot tables import greeter ordersTable orders.csv\n')
    .action(async (idOrName: string, table: string, path: string, options: ImportOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const wait = readDuration(options.wait)
      const [
        { findBot },
        { getTable },
        { deleteFile, uploadFile },
        { openContent },
        { isEnd, startImport, untilEnded },
      ] = await Promise.all([
        import('../find-bot.ts'),
        import('../tables/bot-tables.ts'),
        import('../files/bot-files.ts'),
        import('../files/content.ts'),
        import('../tables/table-jobs.ts'),
      ])
      const connection = await connect()
      const { id: botId } = await findBot(connection, idOrName)
      const { id, name } = (await getTable(connection, botId, table)).table
      // A name of its own: another import must not replace the content of this one.
      const key = `imports/${name}/${Date.now()}-${process.pid}-${path === '-' ? 'input' : basename(path)}`
      await using content = await openContent(path, key)
      const file = await output.during('Uploading', uploadFile(connection, botId, content, { index: false }))
      let progress = 0
      let begun: Job | undefined
      // From the request on, whose answer may be lost, until the import is known to have ended.
      let isRead = true
      try {
        begun = await startImport(connection, botId, id, file.id)
        const ended = untilEnded(connection, begun, Date.now() + wait, (job) => (progress = job.progress))
        const job = await output.during(() => `Importing, ${progress} %`, ended)
        isRead = false
        const errors = job.errors ?? []
        if (errors.some(isFailure)) process.exitCode = exitCodes.failed
        const { rows } = await getTable(connection, botId, id)
        const more = errors.length > shownErrors ? [`… and ${errors.length - shownErrors} more: --json has them`] : []
        output.result(
          { job, rows },
          [`Imported into ${name}, which has ${rows} rows`, ...errors.slice(0, shownErrors), ...more].join('\n'),
        )
      } catch (error) {
        if (error instanceof Failure) isRead &&= begun ? !isEnd(error) : error.exitCode === exitCodes.unreachable
        throw error
      } finally {
        if (!options.keep && !isRead) await deleteFile(connection, botId, file.id)
      }
    })
}

interface ExportOptions extends ImportOptions {
  format?: string
  gzip?: boolean
}

export function addExport(tables: Command): void {
  tables
    .command('export')
    .argument(...botArgument)
    .argument(...tableArgument)
    .argument('[path]', 'where to; - is standard output (default: the name of the table, with the extension)')
    .description('Writes all rows of a table to a file on this machine, in CSV or JSON.')
    .option('--format <format>', 'csv or json (default: by the extension of the path, else csv)')
    .option('--gzip', 'compress it (default: by the extension .gz of the path)')
    .option(...waitOption)
    .option(...keepOption)
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot tables export greeter ordersTable orders.csv\n' +
        '  $ isobot tables export greeter ordersTable - --format json | jq .rows[].number\n',
    )
    .action(
      async (idOrName: string, table: string, path: string | undefined, options: ExportOptions, command: Command) => {
        const { output, connect } = toolsOf(command)
        const [format, compress, wait] = [
          formatOf(options, path),
          isCompressed(options, path),
          readDuration(options.wait),
        ]
        const [{ findBot }, { getTable }, { deleteFile, getFile, sizeOf }, { saveContent }, jobs] = await Promise.all([
          import('../find-bot.ts'),
          import('../tables/bot-tables.ts'),
          import('../files/bot-files.ts'),
          import('../files/content.ts'),
          import('../tables/table-jobs.ts'),
        ])
        const connection = await connect()
        const { id: botId } = await findBot(connection, idOrName)
        const { id, name } = (await getTable(connection, botId, table)).table
        const target = path ?? `${name}.${format}${compress ? '.gz' : ''}`
        const begun = await jobs.startExport(connection, botId, id, { format, compress })
        let progress = 0
        const ended = jobs.untilEnded(connection, begun, Date.now() + wait, (job) => (progress = job.progress))
        const job = await output.during(() => `Exporting, ${progress} %`, ended)
        const file = await getFile(connection, botId, job.outputFileId!)
        try {
          await output.during('Downloading', saveContent(file, target))
        } finally {
          if (!options.keep) await deleteFile(connection, botId, file.id)
        }
        if (target !== '-') output.result({ job, path: target }, `Exported ${name} to ${target}, ${sizeOf(file.size)}`)
      },
    )
}

/** @throws Failure */
function formatOf({ format }: ExportOptions, path = ''): string {
  const chosen = format ?? (/\.json(?:\.gz)?$/i.test(path) ? 'json' : 'csv')
  if (chosen === 'csv' || chosen === 'json') return chosen
  throw misused(`--format takes csv or json, not "${chosen}"`)
}

function isCompressed({ gzip }: ExportOptions, path = ''): boolean {
  return gzip ?? /\.gz$/i.test(path)
}
