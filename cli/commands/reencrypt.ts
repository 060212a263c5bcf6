import type { Command } from 'commander'
import { exitCodes, misused } from '../failure.ts'
import { loadVariables, usualVariables } from '../load-variables.ts'
import { loadPlatformOnly } from '../platform-only.ts'
import { operatedDataDirectory } from '../profiles.ts'
import { toolsOf } from '../tools.ts'

export function addReencryptCommand(program: Command): void {
  program
    .command('reencrypt')
    .summary('encrypt all stored secrets with the present ISOBOT_SECRET')
    .description(
      'Encrypts with ISOBOT_SECRET what ISOBOT_SECRET_ACCEPTED has encrypted: the secrets of bots and integrations, and the ' +
        'configurations of installations. It is for operators: it runs with the platform’s environment variables. The ' +
        'platform may serve meanwhile. It may be interrupted, and run again.\n\n' +
        'The exit code is 1 when values remain that neither secret decrypts.',
    )
    .option(
      '--env-file <file>',
      `file with variables that the environment does not set (default: ${usualVariables}, if it exists)`,
    )
    .addHelpText('after', '\nExample:\n  $ isobot reencrypt --env-file production.env\n')
    .action(async ({ envFile }: { envFile?: string }, command: Command) => {
      const { output } = toolsOf(command)
      loadVariables(envFile)
      const [{ openStores }, { reencrypt }, { untilInterrupted }] = await Promise.all([
        loadPlatformOnly('reencrypt', () => import('../files/open-stores.ts')),
        import('#shared/store/reencrypt.ts'),
        import('../start/interrupt.ts'),
      ])
      await using stores = await openStores(process.env, await operatedDataDirectory())
      const { secret } = stores.config
      if (secret.accepted === undefined) throw misused('Set ISOBOT_SECRET_ACCEPTED to the former secret')
      using interruption = untilInterrupted()
      const { signal } = interruption
      const done = await output.during('Encrypting', reencrypt(stores.db, secret, { signal }))
      if (done.unreadable.length > 0 || signal.aborted) process.exitCode = exitCodes.failed
      output.result({ ...done, isInterrupted: signal.aborted }, () =>
        [
          `Encrypted ${done.reencrypted} values with ISOBOT_SECRET; ${done.current} were already` +
            (signal.aborted ? ': interrupted, run it again for the rest' : ''),
          ...done.unreadable.map((id) => `Neither secret decrypts the value of ${id}: set it again`),
        ].join('\n'),
      )
    })
}
