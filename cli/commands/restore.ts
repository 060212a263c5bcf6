import type { Command } from 'commander'
import type { RestoredBackup } from '../backup/restore-backup.ts'
import { loadVariables, usualVariables } from '../load-variables.ts'
import { loadPlatformOnly } from '../platform-only.ts'
import { dataDirectory } from '../profiles.ts'
import { toolsOf } from '../tools.ts'

interface RestoreCommandOptions {
  envFile?: string
  lostSecret?: boolean
}

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .argument('<file>', 'a file of `isobot backup`, or - for standard input')
    .summary('restore a backup into an empty database')
    .description(
      'Restores a backup into an empty database, and migrates it to this version. It runs with the environment variables of ' +
        'the platform, whose processes must not run yet; without DATABASE_URL, it fills the database of a data folder in which ' +
        '`isobot start` has not run. It restores everything or nothing.\n\n' +
        'ISOBOT_SECRET has to be that of the backup.',
    )
    .option(
      '--env-file <file>',
      `file with variables that the environment does not set (default: ${usualVariables}, if it exists)`,
    )
    .option(
      '--lost-secret',
      'restore a backup whose ISOBOT_SECRET is lost: secrets and configurations have to be set again',
    )
    .addHelpText('after', '\nExample:\n  $ isobot restore isobot.backup --env-file production.env\n')
    .action(async (path: string, { envFile, lostSecret = false }: RestoreCommandOptions, command: Command) => {
      const { output } = toolsOf(command)
      loadVariables(envFile)
      const [{ openPlatform }, { openBackup }, { restoreBackup }, { untilInterrupted }] = await Promise.all([
        loadPlatformOnly('restore', () => import('../backup/open-platform.ts')),
        loadPlatformOnly('restore', () => import('../backup/open-backup.ts')),
        loadPlatformOnly('restore', () => import('../backup/restore-backup.ts')),
        import('../start/interrupt.ts'),
      ])
      using interruption = untilInterrupted()
      const { signal } = interruption
      const backup = await openBackup(path, signal)
      await using parts = new AsyncDisposableStack()
      const config = await openPlatform(process.env, dataDirectory(), parts, signal)
      let step = 'Connecting'
      const report = (next: string) => (step = next)
      const restoring = restoreBackup(config, backup, { isSecretLost: lostSecret, report })
      const restored = await output.during(() => step, restoring)
      output.result(restored, () => describe(restored))
    })
}

function describe({ takenAt, version, rows, tables, waitingEvents, contentsElsewhere }: RestoredBackup): string {
  return [
    `Restored ${rows} rows of ${tables} tables, as of ${takenAt}, from a backup of version ${version}`,
    `${waitingEvents === 1 ? 'One event waits' : `${waitingEvents} events wait`} for the workers. If there is a Redis, empty it before they start`,
    ...(contentsElsewhere > 0
      ? [`${contentsElsewhere} contents of files are in a bucket: the settings of S3 have to name it, or a copy of it`]
      : []),
  ].join('\n')
}
