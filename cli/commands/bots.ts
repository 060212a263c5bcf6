import { basename, extname } from 'node:path'
import type { Command } from 'commander'
import type { Bot } from '#shared/models/bot.ts'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import { failed, Failure } from '../failure.ts'
import { localTime, styled, table } from '../output.ts'
import { toolsOf } from '../tools.ts'

export function addBotsCommand(program: Command): void {
  const bots = program
    .command('bots')
    .summary('list, create and delete bots, and roll back to an earlier version')
    .description('The bots of the workspace.')
    .addHelpText('after', '\nExample:\n  $ isobot bots list\n')
  addList(bots)
  addCreate(bots)
  addDelete(bots)
  addVersions(bots)
  addRollback(bots)
}

function addList(bots: Command): void {
  bots
    .command('list')
    .description('Lists the bots of the workspace, the newest first.')
    .addHelpText('after', '\nExample:\n  $ isobot bots list --json | jq -r .bots[].name\n')
    .action(async (_options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { listAllBots } = await import('../find-bot.ts')
      const all = await output.during('Listing bots', listAllBots(await connect()))
      output.result({ bots: all }, () => {
        if (all.length === 0) return 'The workspace has no bots: create the first one with `isobot init my-bot`'
        const rows = all.map((bot) => [bot.name, bot.id, localTime(bot.createdAt), localTime(bot.deployedAt)])
        return table(['NAME', 'ID', 'CREATED', 'DEPLOYED'], rows)
      })
    })
}

function addCreate(bots: Command): void {
  bots
    .command('create')
    .argument('[name]', 'the bot’s name (default: the name of the file)')
    .description('Creates a bot with a chat, and deploys the code of the file, if given.')
    .option('--file <file>', 'the code: one module, or a bundle')
    .option('--allow-net <hosts>', 'the hosts that the bot may request: api.example.com,*.example.org')
    .addHelpText('after', '\nExample:\n  $ isobot bots create greeter --file bot.ts --allow-net api.example.com\n')
    .action(async (name: string | undefined, options: { file?: string; allowNet?: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { file, allowNet } = options
      const net = allowNet?.split(/[\s,]+/).filter(Boolean)
      const body = {
        name: name ?? (file === undefined ? undefined : basename(file, extname(file))),
        ...(file !== undefined && { code: await readCode(file) }),
        ...(net && { permissions: { net } }),
      }
      const { ask } = await connect()
      const created = ask<'createBot'>('POST', '/v1/admin/bots', { body }).catch((error: unknown) => {
        throw inFile(error, file)
      })
      const { bot } = await output.during('Creating the bot', created)
      output.result({ bot }, () => `${describe('Created', bot)}\nTalk to it with \`isobot chat ${bot.name}\``)
    })
}

function addDelete(bots: Command): void {
  bots
    .command('delete')
    .argument('<bot>', 'the bot’s id or name')
    .description('Deletes a bot with its conversations, users, states and log, after a confirmation.')
    .option('-y, --yes', 'skip the confirmation')
    .addHelpText('after', '\nExample:\n  $ isobot bots delete greeter --yes\n')
    .action(async (idOrName: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot }, { confirm }] = await Promise.all([import('../find-bot.ts'), import('../confirm.ts')])
      const connection = await connect()
      const { id, name } = await findBot(connection, idOrName)
      await confirm(`Delete the bot ${name} (${id}) with all its conversations?`, yes)
      await output.during('Deleting the bot', connection.ask('DELETE', `/v1/admin/bots/${id}`))
      output.result({ deleted: { id, name } }, `Deleted ${name} (${id})`)
    })
}

type BotVersion = AnswerOf<'listBotVersions'>['versions'][number]

function addVersions(bots: Command): void {
  bots
    .command('versions')
    .argument('<bot>', 'the bot’s id or name')
    .description('Lists the kept versions of a bot’s code, the newest first.')
    .addHelpText('after', '\nExample:\n  $ isobot bots versions greeter\n')
    .action(async (idOrName: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { findBot } = await import('../find-bot.ts')
      const connection = await connect()
      const { id, name } = await findBot(connection, idOrName)
      const versions = await Array.fromAsync(connection.list<BotVersion>(`/v1/admin/bots/${id}/versions`, 'versions'))
      output.result({ botId: id, versions }, () => {
        if (versions.length === 0) return `${name} has no code: deploy code with \`isobot deploy\``
        const rows = versions.map((version) => [
          version.isDeployed ? '*' : '',
          version.name,
          version.id,
          localTime(version.createdAt),
          version.author?.email ?? version.author?.name ?? '',
          version.disabledReason ?? version.description ?? '',
        ])
        return table(['', 'VERSION', 'ID', 'UPLOADED', 'BY', 'NOTE'], rows)
      })
    })
}

function addRollback(bots: Command): void {
  bots
    .command('rollback')
    .argument('<bot>', 'the bot’s id or name')
    .description('Deploys the version before the deployed one, or the given version.')
    .option('--to <version>', 'the version, by its id or name in `isobot bots versions`')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot bots rollback greeter\n  $ isobot bots rollback greeter --to 3f9c0aa\n',
    )
    .action(async (idOrName: string, { to }: { to?: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { findBot } = await import('../find-bot.ts')
      const connection = await connect()
      const { id, version: before } = await findBot(connection, idOrName)
      const path = `/v1/admin/bots/${id}`
      if (to === undefined) await connection.ask('POST', `${path}/rollback`)
      else {
        const versions = await Array.fromAsync(connection.list<BotVersion>(`${path}/versions`, 'versions'))
        const wanted = versions.filter((version) => version.id === to || version.name === to)
        if (wanted.length !== 1) {
          const problem = wanted.length === 0 ? 'no version' : 'several versions'
          throw failed(`The bot has ${problem} "${to}": choose an id from \`isobot bots versions ${idOrName}\``)
        }
        await connection.ask('POST', `${path}/versions/deploy`, { body: { versionId: wanted[0]!.id } })
      }
      const { bot } = await connection.ask<'getBot'>('GET', path)
      output.result({ bot, from: before?.id, to: bot.version?.id }, () => describe('Rolled back', bot))
    })
}

function describe(done: string, { name, id, version }: Bot): string {
  const inService = version ? `\nDeployed: ${version.hash.slice(0, 7)} (${version.id})` : ''
  return `${styled('green', done)} ${name} (${id})${inService}`
}

/** Replaces the platform's file name in an error with the name of the author's file. */
function inFile(error: unknown, file: string | undefined): unknown {
  if (!(error instanceof Failure) || file === undefined || !error.message.startsWith('bot.ts:')) return error
  const { message, type, details } = error
  return failed(message.replace('bot.ts', file), { cause: error, ...(type && { type }), ...(details && { details }) })
}

async function readCode(file: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw failed(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
