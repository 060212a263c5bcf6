import type { Command } from 'commander'
import type { RuntimeUser } from '#shared/models/user.ts'
import type { Connection } from '../connection.ts'
import { localTime, table } from '../output.ts'
import { readCount } from '../read-count.ts'
import { toolsOf } from '../tools.ts'
import { addErase, addExport } from './users-data.ts'

const path = '/v1/chat/users'
const botArgument = ['<bot>', 'the bot’s id or name'] as const
const userArgument = ['<user>', 'the user’s id'] as const

export function addUsersCommand(program: Command): void {
  const users = program
    .command('users')
    .summary('list, show and delete the persons who talk to a bot, erase and export a person')
    .description('The users of a bot: persons in its conversations, by each integration.')
    .addHelpText('after', '\nExample:\n  $ isobot users list greeter\n')
  addList(users)
  addShow(users)
  addDelete(users)
  addErase(users)
  addExport(users)
}

function addList(users: Command): void {
  users
    .command('list')
    .argument(...botArgument)
    .description('Lists the users of a bot, the newest first.')
    .option('--conversation <id>', 'only participants of this conversation')
    .option('-n, --lines <number>', 'the number of users', '20')
    .addHelpText('after', '\nExample:\n  $ isobot users list greeter -n 100 --json | jq -r .users[].id\n')
    .action(async (idOrName: string, options: { conversation?: string; lines: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const limit = readCount(options.lines)
      const { findBot } = await import('../find-bot.ts')
      const connection = await connect()
      const { id: botId, name } = await findBot(connection, idOrName)
      const query = { conversationId: options.conversation }
      const listed = connection.list<RuntimeUser>(path, 'users', { botId, query, limit })
      const found = await output.during('Listing', Array.fromAsync(listed))
      output.result({ botId, users: found }, () => {
        if (found.length === 0) return `${name} has no such users`
        return table(
          ['ID', 'NAME', 'CREATED', 'TAGS'],
          found.map((user) => [user.id, user.name ?? '', localTime(user.createdAt), tagsOf(user)]),
        )
      })
    })
}

function addShow(users: Command): void {
  users
    .command('show')
    .argument(...botArgument)
    .argument(...userArgument)
    .description('Shows a user.')
    .addHelpText('after', '\nExample:\n  $ isobot users show greeter user_01JD2W6VYB0M3W6TQ5XKX1J9QZ\n')
    .action(async (idOrName: string, id: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { findBot } = await import('../find-bot.ts')
      const connection = await connect()
      const { id: botId } = await findBot(connection, idOrName)
      const user = await readUser(connection, botId, id)
      output.result({ user }, () => {
        const rows = [
          ['id', user.id],
          ['name', user.name ?? ''],
          ['created', localTime(user.createdAt)],
          ['updated', localTime(user.updatedAt)],
          ['profile', user.profile ?? ''],
          ['tags', tagsOf(user)],
        ]
        return table(
          ['FIELD', 'VALUE'],
          rows.filter(([, value]) => value !== ''),
        )
      })
    })
}

function addDelete(users: Command): void {
  users
    .command('delete')
    .argument(...botArgument)
    .argument(...userArgument)
    .description('Deletes a user with name, profile and states, after a confirmation. The messages of the user stay.')
    .option('-y, --yes', 'skip the confirmation')
    .addHelpText('after', '\nExample:\n  $ isobot users delete greeter user_01JD2W6VYB0M3W6TQ5XKX1J9QZ --yes\n')
    .action(async (idOrName: string, id: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot }, { confirm }] = await Promise.all([import('../find-bot.ts'), import('../confirm.ts')])
      const connection = await connect()
      const { id: botId, name } = await findBot(connection, idOrName)
      const user = await readUser(connection, botId, id)
      await confirm(`Delete ${user.name ?? 'the user'} (${id}) of ${name}? The messages of the user stay.`, yes)
      await output.during('Deleting', connection.ask('DELETE', pathOf(id), { botId }))
      output.result({ botId, deleted: { id } }, `Deleted ${id}`)
    })
}

function pathOf(id: string): string {
  return `${path}/${encodeURIComponent(id)}`
}

/** The Chat API has an operation of the same name, with another answer. */
async function readUser({ ask }: Connection, botId: string, id: string): Promise<RuntimeUser> {
  const { user } = (await ask('GET', pathOf(id), { botId })) as unknown as { user: RuntimeUser }
  return user
}

function tagsOf({ tags }: RuntimeUser): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}
