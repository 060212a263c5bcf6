import type { Command } from 'commander'
import { readMoment } from '../duration.ts'
import { toolsOf } from '../tools.ts'

interface ExportOptions {
  since?: string
  account?: string
  operation?: string
  resource?: string
  output: string
}

export function addAuditCommand(program: Command): void {
  const audit = program
    .command('audit')
    .summary('export the audit records of the workspace')
    .description('The changes of the workspace, and the readings of conversations, with author and time.')
    .addHelpText('after', '\nExample:\n  $ isobot audit export --since 1d -o audit.ndjson\n')
  addExport(audit)
}

function addExport(audit: Command): void {
  audit
    .command('export')
    .description(
      'Writes the audit records of the workspace, a line of JSON each, the newest first. It is for administrators.',
    )
    .option('--since <time>', 'only records from then on: 10m, 2h, 1d, or a date')
    .option('--account <id>', 'only actions of this account')
    .option('--operation <name>', 'only actions by this operation, such as updateBot')
    .option('--resource <id>', 'only actions on this resource')
    .option('-o, --output <path>', 'a new file, or - for standard output', '-')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot audit export --since 1d -o audit.ndjson\n' +
        '  $ isobot audit export --operation deleteBot | jq -r .userEmail\n',
    )
    .action(async ({ since, output: path, ...options }: ExportOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const filter = {
        query: { userId: options.account, operation: options.operation, resourceId: options.resource },
        since: since === undefined ? undefined : readMoment(since),
      }
      const { exportAudit } = await import('../audit/export.ts')
      const records = await output.during('Exporting', exportAudit(await connect(), filter, path))
      if (path === '-') output.note(`${records} records`)
      else output.result({ path, records }, `${path} has ${records} records`)
    })
}
