import type { Command } from 'commander'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { failed } from '../failure.ts'
import { localTime, table } from '../output.ts'
import { toolsOf } from '../tools.ts'

type Token = AnswerOf<'listPersonalAccessTokens'>['pats'][number]

interface OfBot {
  bot?: string
}

const ofAccount = '/v1/admin/account/pats'
const ofBots = '/v1/admin/bots/baks'
const botOption = ['--bot <bot>', 'the keys of this bot, which reach its Runtime API only'] as const

export function addTokensCommand(program: Command): void {
  const tokens = program
    .command('tokens')
    .summary('list, create and revoke tokens of your account, and keys of a bot')
    .description(
      'The personal access tokens of your account, which have your rights in all workspaces; with --bot, the keys of a bot.',
    )
    .addHelpText('after', '\nExample:\n  $ isobot tokens create --note "deployments from CI"\n')
  addList(tokens)
  addCreate(tokens)
  addRevoke(tokens)
}

function addList(tokens: Command): void {
  tokens
    .command('list')
    .description('Lists the tokens. Their values are shown once, when they are created.')
    .option(...botOption)
    .addHelpText('after', '\nExample:\n  $ isobot tokens list --bot greeter\n')
    .action(async (options: OfBot, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { tokens: found } = await readTokens(await connect(), options)
      output.result({ tokens: found }, () => {
        if (found.length === 0) return 'There are none'
        return table(
          ['ID', 'CREATED', 'NOTE'],
          found.map(({ id, createdAt, note }) => [id, localTime(createdAt), note]),
        )
      })
    })
}

function addCreate(tokens: Command): void {
  tokens
    .command('create')
    .description('Creates a token, and prints its value alone on standard output: it is not shown again.')
    .requiredOption('--note <purpose>', 'what it is for, as lists show it')
    .option(...botOption)
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot tokens create --note CI > token.txt\n  $ isobot tokens create --note backend --bot greeter --json\n',
    )
    .action(async ({ note, ...options }: OfBot & { note: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const botId = await botIdOf(connection, options)
      const created =
        botId === undefined
          ? (await connection.ask<'createPersonalAccessToken'>('POST', ofAccount, { body: { note } })).pat
          : await connection.ask<'createBotApiKey'>('POST', ofBots, { body: { botId, note } })
      output.result({ token: created }, created.value)
      output.note(`Created ${created.id}. Keep the value: it is not shown again`)
    })
}

function addRevoke(tokens: Command): void {
  tokens
    .command('revoke')
    .argument('<id>', 'the token’s id, from `isobot tokens list`')
    .description('Deletes a token, after a confirmation: requests with it are refused from then on.')
    .option(...botOption)
    .option('-y, --yes', 'skip the confirmation')
    .addHelpText('after', '\nExample:\n  $ isobot tokens revoke pat_01JD2W6VYB0M3W6TQ5XKX1J9QZ --yes\n')
    .action(async (id: string, { yes = false, ...options }: OfBot & { yes?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { confirm } = await import('../confirm.ts')
      const connection = await connect()
      const { path, tokens: present } = await readTokens(connection, options)
      const found = present.find((token) => token.id === id)
      if (!found)
        throw failed(`There is no token ${id}: \`isobot tokens list\` shows them`, { type: 'ResourceNotFound' })
      await confirm(`Revoke ${id} (${found.note || 'without a note'})?`, yes)
      await connection.ask('DELETE', `${path}/${encodeURIComponent(id)}`)
      output.result({ revoked: id }, `Revoked ${id}`)
    })
}

async function readTokens(connection: Connection, options: OfBot): Promise<{ path: string; tokens: Token[] }> {
  const botId = await botIdOf(connection, options)
  if (botId === undefined) {
    return { path: ofAccount, tokens: (await connection.ask<'listPersonalAccessTokens'>('GET', ofAccount)).pats }
  }
  return { path: ofBots, tokens: (await connection.ask<'listBotApiKeys'>('GET', ofBots, { query: { botId } })).baks }
}

async function botIdOf(connection: Connection, { bot }: OfBot): Promise<string | undefined> {
  if (bot === undefined) return undefined
  const { findBot } = await import('../find-bot.ts')
  return (await findBot(connection, bot)).id
}
