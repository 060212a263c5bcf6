import type { Command } from 'commander'
import type { Connection } from '../connection.ts'
import { misused } from '../failure.ts'
import { table } from '../output.ts'
import { toolsOf } from '../tools.ts'

interface OwnerOptions {
  integration?: boolean
}

/** A bot or an integration, with the names of its secrets. */
interface Owner {
  id: string
  name: string
  path: string
  secrets: string[]
}

export function addSecretsCommand(program: Command): void {
  const secrets = program
    .command('secrets')
    .summary('list, set and remove the secrets of a bot or an integration')
    .description(
      'The secrets that code reads from its environment, as SECRET_<NAME>. The platform shows their names and never ' +
        'their values.',
    )
    .addHelpText('after', '\nExample:\n  $ isobot secrets set greeter API_KEY < key.txt\n')
  addList(secrets)
  addSet(secrets)
  addRemove(secrets)
}

const ownerArgument = ['<bot>', 'the bot’s id or name; with --integration, an integration'] as const
const integrationOption = [
  '--integration',
  'the secrets of an integration of the workspace, named by its id or as name@version',
] as const

function addList(secrets: Command): void {
  secrets
    .command('list')
    .argument(...ownerArgument)
    .description('Lists the names of the secrets.')
    .option(...integrationOption)
    .addHelpText('after', '\nExample:\n  $ isobot secrets list greeter\n')
    .action(async (idOrName: string, options: OwnerOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { id, name, secrets: names } = await findOwner(await connect(), idOrName, options)
      output.result({ id, secrets: names }, () =>
        names.length === 0
          ? `${name} has no secrets: add one with \`isobot secrets set\``
          : table(
              ['NAME', 'IN CODE'],
              names.toSorted().map((secret) => [secret, `env.SECRET_${secret}`]),
            ),
      )
    })
}

function addSet(secrets: Command): void {
  secrets
    .command('set')
    .argument(...ownerArgument)
    .argument('<name>', 'the name, such as API_KEY; a SECRET_ before it is ignored')
    .description(
      'Sets a secret. The value comes from standard input, without the line break at its end, or is asked for without ' +
        'echo. It applies to events from now on.',
    )
    .option(...integrationOption)
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot secrets set greeter API_KEY < key.txt\n  $ pass show crm | isobot secrets set crm@1.0.0 TOKEN --integration\n',
    )
    .action(async (idOrName: string, given: string, options: OwnerOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const name = secretName(given)
      const { readSecret } = await import('../read-secret.ts')
      const connection = await connect()
      const owner = await findOwner(connection, idOrName, options)
      const value = await readSecret(name)
      await output.during('Setting', connection.ask('PUT', owner.path, { body: { secrets: { [name]: value } } }))
      const isNew = !owner.secrets.includes(name)
      output.result({ id: owner.id, name, isNew }, `${isNew ? 'Added' : 'Replaced'} ${name} of ${owner.name}`)
    })
}

function addRemove(secrets: Command): void {
  secrets
    .command('remove')
    .argument(...ownerArgument)
    .argument('<names...>', 'the names')
    .description('Removes secrets, after a confirmation.')
    .option(...integrationOption)
    .option('-y, --yes', 'skip the confirmation')
    .addHelpText('after', '\nExample:\n  $ isobot secrets remove greeter API_KEY --yes\n')
    .action(async (idOrName: string, given: string[], options: OwnerOptions & { yes?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { confirm } = await import('../confirm.ts')
      const connection = await connect()
      const owner = await findOwner(connection, idOrName, options)
      const names = given.map(secretName)
      const unknown = names.find((name) => !owner.secrets.includes(name))
      if (unknown !== undefined) {
        throw misused(`${owner.name} has no secret ${unknown}; it has ${owner.secrets.join(', ') || 'none'}`)
      }
      await confirm(`Remove ${names.join(', ')} of ${owner.name}?`, options.yes ?? false)
      const secrets = Object.fromEntries(names.map((name) => [name, null]))
      await connection.ask('PUT', owner.path, { body: { secrets } })
      output.result({ id: owner.id, removed: names }, `Removed ${names.join(', ')} of ${owner.name}`)
    })
}

/** The name of a secret, given with or without the beginning that code sees. */
function secretName(given: string): string {
  const name = given.replace(/^SECRET_/, '')
  if (/^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name)) return name
  throw misused(`"${given}" is no name of a secret: use letters, digits and "_", and no digit first`)
}

async function findOwner(connection: Connection, idOrName: string, { integration }: OwnerOptions): Promise<Owner> {
  if (integration) {
    const { findIntegration } = await import('../integrations/find-integration.ts')
    const { id, name, version, secrets } = await findIntegration(connection, idOrName)
    return { id, name: `${name}@${version}`, path: `/v1/admin/integrations/${id}`, secrets }
  }
  const { findBot } = await import('../find-bot.ts')
  const { id, name, secrets } = await findBot(connection, idOrName)
  return { id, name, path: `/v1/admin/bots/${id}`, secrets }
}
