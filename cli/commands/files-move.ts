import { Argument, type Command } from 'commander'
import { storeNames, type StoreName } from '#shared/config/s3-settings.ts'
import { exitCodes, misused } from '../failure.ts'
import { loadVariables, usualVariables } from '../load-variables.ts'
import { loadPlatformOnly } from '../platform-only.ts'
import { operatedDataDirectory } from '../profiles.ts'
import { toolsOf } from '../tools.ts'

export function addMove(files: Command): void {
  files
    .command('move')
    .addArgument(new Argument('<store>', 'where to').choices(storeNames))
    .summary('bring the contents of all files to S3, or back to PostgreSQL')
    .description(
      'Brings the contents of the files of all bots to the bucket, or back to PostgreSQL, one after the other. It is for ' +
        'operators: it runs with the platform’s environment variables, S3_BUCKET and its companions among them. The ' +
        'platform may serve meanwhile. It may be interrupted, and run again. The former contents are removed an hour later, ' +
        'by the workers.\n\n' +
        'To leave a bucket, set FILE_STORE=postgres on all processes first.',
    )
    .option(
      '--env-file <file>',
      `file with variables that the environment does not set (default: ${usualVariables}, if it exists)`,
    )
    .addHelpText('after', '\nExample:\n  $ isobot files move s3\n  $ FILE_STORE=postgres isobot files move postgres\n')
    .action(async (store: StoreName, { envFile }: { envFile?: string }, command: Command) => {
      const { output } = toolsOf(command)
      loadVariables(envFile)
      const [{ openStores }, { moveObjects }, { untilInterrupted }, { sizeOf }] = await Promise.all([
        loadPlatformOnly('files move', () => import('../files/open-stores.ts')),
        import('#shared/files/move-objects.ts'),
        import('../start/interrupt.ts'),
        import('../files/bot-files.ts'),
      ])
      await using stores = await openStores(process.env, await operatedDataDirectory())
      const { config } = stores
      if (!config.s3) throw misused('Set S3_BUCKET and its companions: without them no content can be moved')
      if (config.files.store !== store) {
        output.note(`New contents still go to ${config.files.store} with these settings: see FILE_STORE`)
      }
      using interruption = untilInterrupted()
      const { signal } = interruption
      const { moved, bytes, failures } = await output.during('Moving contents', moveObjects(stores, store, { signal }))
      if (failures.length > 0 || signal.aborted) process.exitCode = exitCodes.failed
      output.result({ store, moved, bytes, failures, isInterrupted: signal.aborted }, () =>
        [
          `Moved ${moved} contents, ${sizeOf(bytes)}, to ${store}${signal.aborted ? ': interrupted, run it again for the rest' : ''}`,
          ...(moved > 0
            ? ['The former ones are removed within an hour: keep the settings of both stores until then']
            : []),
          ...failures.map(({ objectId, message }) => `${objectId} stays where it is: ${message}`),
        ].join('\n'),
      )
    })
}
