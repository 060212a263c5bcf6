import type { Command } from 'commander'
import { exitCodes, misused } from '../failure.ts'
import type { ImportedItem } from '../hub/import.ts'
import { styled, table } from '../output.ts'
import { toolsOf } from '../tools.ts'

export function addHubCommand(program: Command): void {
  const hub = program
    .command('hub')
    .summary('publish integrations, interfaces and plugins within the platform')
    .description('Integrations, interfaces and plugins that all workspaces of the platform find.')
    .addHelpText('after', '\nExample:\n  $ isobot hub import ./integrations\n')
  addImport(hub)
  addList(hub)
}

interface ImportFlags {
  bp?: string
  dryRun?: boolean
  secret?: Record<string, string>
}

function addImport(hub: Command): void {
  hub
    .command('import')
    .argument('<source>', 'a folder, a .tgz or the name of an npm package')
    .description(
      'Builds every interface, integration and plugin of the source with the public command line bp, publishes it within ' +
        'the platform, and reports on each. The build runs code of the source on this machine, as you: import only what ' +
        'you would run.',
    )
    .option('--bp <script>', 'the program of bp (default: that of the project’s dependencies)')
    .option(
      '--secret <name=value>',
      'a secret that an integration declares; without =value, of the environment',
      addSecret,
    )
    .option('--dry-run', 'build, and publish nothing')
    .addHelpText('after', '\nExample:\n  $ isobot hub import ./integrations --secret CLIENT_ID\n')
    .action(async (source: string, { bp, dryRun, secret }: ImportFlags, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { importProjects } = await import('../hub/import.ts')
      let current = source
      const work = importProjects(source, await connect(), {
        bp,
        isDryRun: dryRun,
        secrets: secret ?? {},
        onProject: ({ name }) => (current = name),
      })
      const items = await output.during(() => `Importing ${current}`, work)
      output.result({ items }, () => describe(items))
      if (items.some(({ status }) => status === 'refused')) process.exitCode = exitCodes.failed
    })
}

const kinds = ['integrations', 'interfaces', 'plugins'] as const

interface Entry {
  id: string
  name: string
  version: string
  title: string
  ownerWorkspace?: { name: string }
}

function addList(hub: Command): void {
  hub
    .command('list')
    .argument('[kind]', 'integrations, interfaces or plugins', 'integrations')
    .description('Lists what is public within the platform, the newest first.')
    .addHelpText('after', '\nExample:\n  $ isobot hub list plugins\n')
    .action(async (given: string, _options: object, command: Command) => {
      const kind = kinds.find((each) => each === given)
      if (!kind) throw misused(`There are ${kinds.join(', ')}, and no ${given}`)
      const { output, connect } = toolsOf(command)
      const { list } = await connect()
      const listed = Array.fromAsync(list<Entry>(`/v1/admin/hub/${kind}`, kind))
      const entries = await output.during(`Listing ${kind}`, listed)
      output.result({ [kind]: entries }, () => {
        if (entries.length === 0) return `No public ${kind} yet: publish some with \`isobot hub import\``
        const rows = entries.map(({ name, version, title, ownerWorkspace, id }) => [
          name,
          version,
          title,
          ownerWorkspace?.name ?? '',
          id,
        ])
        return table(['NAME', 'VERSION', 'TITLE', 'WORKSPACE', 'ID'], rows)
      })
    })
}

function addSecret(given: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name = '', value = process.env[name]] = /^(\w+)(?:=([^]*))?$/.exec(given) ?? []
  if (name === '') throw misused(`--secret requires NAME=value, or the NAME of a variable, not "${given}"`)
  if (value === undefined) throw misused(`--secret ${name} has no value: the environment has no variable of this name`)
  return { ...earlier, [name]: value }
}

function describe(items: ImportedItem[]): string {
  const rows = items.map(({ status, kind, folder, name, version, bytes, literalHosts }) => [
    status,
    kind,
    folder,
    name === undefined ? '' : `${name}@${version}`,
    bytes > 0 ? `${(bytes / 1e6).toFixed(1)} MB` : '',
    literalHosts.join(' '),
  ])
  const problems = items.flatMap(({ kind, folder, problem }) =>
    problem === undefined ? [] : [`${styled('red', 'Refused')} ${kind} ${folder}: ${problem}`],
  )
  const hint = items.some(({ literalHosts }) => literalHosts.length > 0)
    ? ['Hosts are those of addresses in the code, a hint only: grant what an integration needs with permissions.net']
    : []
  return [table(['STATUS', 'KIND', 'FOLDER', 'NAME', 'BUNDLE', 'HOSTS'], rows), ...problems, ...hint].join('\n')
}
