import type { Command } from 'commander'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { failed, Failure, misused } from '../failure.ts'
import { styled } from '../output.ts'
import { toolsOf } from '../tools.ts'

interface Options {
  toProfile?: string
  fromVersion?: string
  note?: string
  yes?: boolean
}

type Version = AnswerOf<'listBotVersions'>['versions'][number]

export function addPromoteCommand(program: Command): void {
  program
    .command('promote')
    .argument('<from>', 'the bot that has the version: its id or name')
    .argument('<to>', 'the bot that gets it')
    .summary('deploy a version of one bot to another one, or to another platform')
    .description(
      'Deploys the very code and flows of a version to another bot, of this platform or of the one of --to-profile, as a ' +
        'new version with the same hash. Secrets, permissions, limits and integrations of both bots stay as they are.',
    )
    .option(
      '--from-version <version>',
      'a version by its id or name in `isobot bots versions` (default: the deployed one)',
    )
    .option('--to-profile <name>', 'the platform of the other bot, from `isobot profiles list`')
    .option('--note <note>', 'the note of the new version (default: where it comes from)')
    .option('-y, --yes', 'deploy also where hooks, or nodes at which conversations wait, are removed')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot promote greeter-staging greeter\n  $ isobot promote greeter greeter --to-profile production --from-version 3f9c0aa\n',
    )
    .action(async (from: string, to: string, options: Options, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { findBot } = await import('../find-bot.ts')
      const source = await connect()
      const target = options.toProfile === undefined ? source : await connectTo(options.toProfile)
      const [bot, other] = [await findBot(source, from), await findBot(target, to).catch(withRemedy(target, to))]
      if (bot.id === other.id && source.profile.url === target.profile.url) {
        throw misused('Both are the same bot: `isobot bots rollback` deploys another version of one')
      }
      const { id, name } = await findVersion(source, bot, options.fromVersion)
      const path = `/v1/admin/bots/${bot.id}/versions/${id}`
      const { version } = await source.ask<'getBotVersion'>('GET', path)
      const { code, sourceMap, flows = [], hasFlowsInCode, layouts } = version
      const isSure = options.yes ?? false
      const body = {
        code,
        flows: hasFlowsInCode ? [] : flows,
        ...(sourceMap !== undefined && { sourceMap }),
        ...(layouts && { layouts }),
        note: options.note ?? `${name} of ${bot.name}`,
        allowNoHooks: isSure,
        allowRemovedNodes: isSure,
      }
      const deploying = target.ask<'updateBot'>('PUT', `/v1/admin/bots/${other.id}`, { body })
      const { bot: deployed } = await output.during('Deploying', deploying)
      const { hash } = deployed.version ?? {}
      if (hash !== version.hash)
        throw failed(`${other.name} has the version ${hash}, and not ${version.hash}: compare both`)
      output.result(
        { from: { botId: bot.id, versionId: id }, to: { botId: other.id, versionId: deployed.version?.id }, hash },
        `${styled('green', 'Promoted')} ${hash.slice(0, 12)} from ${bot.name} to ${other.name} at ${target.profile.url}: ${deployed.version?.id}`,
      )
    })
}

/** A platform to which nothing was promoted yet has no bot for it. */
function withRemedy({ profile: { name } }: Connection, to: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Failure) || error.type !== 'ResourceNotFound') throw error
    throw failed(`${error.message}, and \`isobot bots create ${to} --profile ${name}\` creates it`, {
      type: error.type,
    })
  }
}

async function connectTo(profile: string): Promise<Connection> {
  const [{ chooseProfile }, { connect }] = await Promise.all([import('../profiles.ts'), import('../connection.ts')])
  return connect(await chooseProfile(profile))
}

/** @param wanted an id or a name; undefined for the deployed version */
async function findVersion(
  { list }: Connection,
  { id, name }: { id: string; name: string },
  wanted: string | undefined,
): Promise<Version> {
  const versions = await Array.fromAsync(list<Version>(`/v1/admin/bots/${id}/versions`, 'versions'))
  const found = versions.filter((version) =>
    wanted === undefined ? version.isDeployed : version.id === wanted || version.name === wanted,
  )
  const [only] = found
  if (only && found.length === 1) return only
  const which = wanted === undefined ? 'no deployed version' : `${only ? 'several versions' : 'no version'} "${wanted}"`
  throw failed(`${name} has ${which}: \`isobot bots versions ${name}\` lists its versions`, {
    type: 'ResourceNotFound',
  })
}
