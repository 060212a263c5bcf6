import type { Command } from 'commander'
import { failed } from '../failure.ts'
import { loadPlatformOnly } from '../platform-only.ts'
import { dataDirectory } from '../profiles.ts'
import { toolsOf } from '../tools.ts'

interface StartOptions {
  port?: string
  host?: string
  data?: string
}

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .summary('run everything on this machine: database, api, worker and an example bot')
    .description(
      'Runs everything on this machine until Ctrl-C: an embedded PostgreSQL unless DATABASE_URL names one, the api, a ' +
        'worker and, at the first start, an example bot. docs/settings.md lists the settings.',
    )
    .option('--port <number>', 'where the api listens (PORT, or 3000)')
    .option('--host <address>', 'the address to listen on (default: HOST, or 127.0.0.1)')
    .option(
      '--data <folder>',
      'where data and credentials are kept (ISOBOT_DATA_DIR, or .isobot: beside the sources of a clone, else in this folder)',
    )
    .addHelpText('after', '\nExample:\n  $ isobot start --port 3001\n')
    .action(async ({ port, host, data }: StartOptions, command: Command) => {
      const { output } = toolsOf(command)
      if (port !== undefined) process.env.PORT = port
      if (host !== undefined) process.env.HOST = host
      if (data !== undefined) process.env.ISOBOT_DATA_DIR = data
      process.env.ISOBOT_DATA_DIR = dataDirectory()
      const { start } = await loadPlatformOnly('start', () => import('../start.ts'))
      const started = start(output.isJson ? { say: output.note, announce: (saved) => output.result(saved, '') } : {})
      await started.catch((cause: unknown) => {
        throw failed(cause instanceof Error ? cause.message : String(cause), { cause })
      })
    })
}
