import { InvalidArgumentError, type Command } from 'commander'
import { toolsOf } from '../tools.ts'
import type { Person } from '../users/person.ts'

const collect = (value: string, before: string[] = []) => [...before, value]

function readTag(text: string): { key: string; value: string } {
  const [, key, value] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (key === undefined || value === undefined) throw new InvalidArgumentError('Write it as key=value.')
  return { key, value }
}

/** The options that name a person. */
function withPerson(command: Command): Command {
  return command
    .option('--bot <bot>', 'only data of this bot, by id or name; default: of all bots of the workspace')
    .option('--user <id>', 'a user, by id')
    .option('--external-id <id>', 'a user of the bot, by the id that a client chose')
    .option('--tag <key=value>', 'users with this tag', readTag)
    .option('--email <address>', 'an address of the person; repeatable', collect)
    .option('--phone <number>', 'a telephone number with its country code; repeatable', collect)
    .option('--text <text>', 'another text that names the person; repeatable', collect)
}

interface EraseOptions extends Person {
  findings: boolean
  yes: boolean
}

/** Erases a person. */
export function addErase(users: Command): void {
  withPerson(users.command('erase'))
    .description(
      'Erases a person: the users that are named or have an identifier, their states, files and messages, and the ' +
        'conversations that nobody else takes part in. Lists the other rows that name the person.',
    )
    .option('--findings', 'erase the rows that name the person too', false)
    .option('-y, --yes', 'skip the confirmation', false)
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot users erase --email ada@example.org --phone "+41 79 123 45 67" --findings --yes\n',
    )
    .action(async ({ findings, yes, ...person }: EraseOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ confirm }, { toPersonBody }, { eraseAndWait, formatErasure, listFindings }] = await Promise.all([
        import('../confirm.ts'),
        import('../users/person.ts'),
        import('../users/erase.ts'),
      ])
      const connection = await connect()
      const body = await toPersonBody(connection, person)
      await confirm('Erase this person? What is erased cannot be restored.', yes)
      const done = await eraseAndWait(connection, output, { ...body, eraseFindings: findings })
      const rows = await listFindings(connection, done.id)
      output.result({ dataRequest: done, findings: rows }, () => formatErasure(done, rows))
    })
}

interface ExportOptions extends Person {
  output: string
}

/** Exports what is stored about a person. */
export function addExport(users: Command): void {
  withPerson(users.command('export'))
    .description(
      'Writes what is stored about a person, a line of JSON for each row. Rows that only name the person are findings.',
    )
    .option('-o, --output <path>', 'a new file, or - for standard output', '-')
    .addHelpText('after', '\nExample:\n  $ isobot users export --email ada@example.org --output ada.ndjson\n')
    .action(async ({ output: path, ...person }: ExportOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ toPersonBody }, { exportPerson }] = await Promise.all([
        import('../users/person.ts'),
        import('../users/export.ts'),
      ])
      const connection = await connect()
      const body = await toPersonBody(connection, person)
      const rows = await output.during('Exporting', exportPerson(connection, body, path))
      if (path === '-') output.note(`${rows} rows`)
      else output.result({ path, rows }, `${path} has ${rows} rows`)
    })
}
