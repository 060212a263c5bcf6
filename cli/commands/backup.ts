import type { Command } from 'commander'
import type { TakenBackup } from '../backup/take-backup.ts'
import { loadVariables, usualVariables } from '../load-variables.ts'
import { loadPlatformOnly } from '../platform-only.ts'
import { operatedDataDirectory } from '../profiles.ts'
import { toolsOf } from '../tools.ts'
import { assertNewFile } from '../write-content.ts'

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .argument('<file>', 'a new file, or - for standard output')
    .summary('write the whole database to a file')
    .description(
      'Writes all data of the platform to one compressed file, for operators. It runs with the platform’s environment ' +
        'variables, or on the database of `isobot start`. The platform may serve meanwhile: the backup has what was stored ' +
        'when it began. Contents of files that are in PostgreSQL are part of it, those in a bucket are not.\n\n' +
        'Keep ISOBOT_SECRET as well, in another place: the backup’s secrets cannot be read without it.',
    )
    .option(
      '--env-file <file>',
      `file with variables that the environment does not set (default: ${usualVariables}, if it exists)`,
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot backup isobot.backup\n  $ isobot backup - --env-file production.env | age -r age1… > isobot.backup.age\n',
    )
    .action(async (path: string, { envFile }: { envFile?: string }, command: Command) => {
      const { output } = toolsOf(command)
      loadVariables(envFile)
      assertNewFile(path)
      const [{ openPlatform }, { writeBackup }, { untilInterrupted }, { sizeOf }] = await Promise.all([
        loadPlatformOnly('backup', () => import('../backup/open-platform.ts')),
        loadPlatformOnly('backup', () => import('../backup/write-backup.ts')),
        import('../start/interrupt.ts'),
        import('../files/bot-files.ts'),
      ])
      using interruption = untilInterrupted()
      await using parts = new AsyncDisposableStack()
      const { signal } = interruption
      const config = await openPlatform(process.env, await operatedDataDirectory(), parts, signal)
      let step = 'Connecting'
      const writing = writeBackup(config, path, { signal, report: (table) => (step = `Backing up ${table}`) })
      const taken = await output.during(() => step, writing)
      if (path === '-') output.note(describe(taken, path, sizeOf))
      else output.result({ path, ...taken }, () => describe(taken, path, sizeOf))
    })
}

function describe(
  { takenAt, rows, tables, contents }: TakenBackup,
  path: string,
  sizeOf: (bytes: number) => string,
): string {
  return [
    `${path === '-' ? 'The backup' : path} has ${rows} rows of ${tables} tables, as of ${takenAt}`,
    ...contents.map(({ store, count, bytes }) =>
      store === 'postgres'
        ? `Contents of files: ${count}, ${sizeOf(bytes)}, are in it`
        : `Contents of files: ${count}, ${sizeOf(bytes)}, are in the bucket and not in it: back up the bucket as well`,
    ),
    'Keep ISOBOT_SECRET in another place: encrypted values of the backup cannot be read without it',
  ].join('\n')
}
