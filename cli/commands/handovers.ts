import { Option, type Command } from 'commander'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import { handoverFilter, maxUnread } from '#shared/models/handover.ts'
import { botIdOf } from '../find-bot.ts'
import { localTime, table } from '../output.ts'
import { readCount } from '../read-count.ts'
import { toolsOf } from '../tools.ts'

type Handover = AnswerOf<'listHandovers'>['handovers'][number]
type HandoverOfBot = AnswerOf<'listWorkspaceHandovers'>['handovers'][number]

export function addHandoversCommand(program: Command): void {
  const handovers = program
    .command('handovers')
    .summary('list the conversations in which people answer, and answer in them')
    .description('The handovers of a bot’s conversations to people.')
    .addHelpText('after', '\nExample:\n  $ isobot handovers list greeter\n')
  addList(handovers)
  addTake(handovers)
  addReply(handovers)
  addResolve(handovers)
}

const botArgument = ['<bot>', 'the bot’s id or name; agents name its id'] as const
const conversationArgument = ['<conversation>', 'the conversation’s id'] as const

interface ListOptions {
  status: string
  search?: string
  lines: string
}

function addList(handovers: Command): void {
  handovers
    .command('list')
    .argument('[bot]', 'the bot’s id or name; agents name its id. Without it, all bots of the workspace')
    .description('Lists the handovers of a bot, or of all; those in progress of all bots with the oldest first.')
    .addOption(new Option('--status <status>', 'only those').choices(handoverFilter.status.enum).default('open'))
    .option(
      '--search <text>',
      'only those with this text in the title, the description or the user’s name, or of this id',
    )
    .option('-n, --lines <number>', 'the number of handovers', '20')
    .addHelpText('after', '\nExample:\n  $ isobot handovers list greeter --status all --search refund\n')
    .action(async (idOrName: string | undefined, { status, search, lines }: ListOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const limit = readCount(lines)
      const connection = await connect()
      const query = { status, ...(search !== undefined && { text: search }) }
      if (idOrName === undefined) {
        const listed = connection.list<HandoverOfBot>('/v1/admin/handovers', 'handovers', { query, limit })
        const found = await output.during('Listing', Array.fromAsync(listed))
        return output.result({ handovers: found }, () => formatAll(found))
      }
      const botId = await botIdOf(connection, idOrName)
      const listed = connection.list<Handover>(`/v1/admin/bots/${botId}/handovers`, 'handovers', { query, limit })
      const found = await output.during('Listing', Array.fromAsync(listed))
      output.result({ botId, handovers: found }, () => format(found))
    })
}

const nothing = 'There are none'
const headings = ['CREATED', 'ID', 'CONVERSATION', 'STATUS', 'UNREAD', 'USER', 'MEMBER', 'TITLE']

function format(handovers: readonly Handover[]): string {
  return handovers.length === 0 ? nothing : table(headings, handovers.map(toRow))
}

function formatAll(handovers: readonly HandoverOfBot[]): string {
  if (handovers.length === 0) return nothing
  const rows = handovers.map(({ bot, handover }) => [bot.id, ...toRow(handover)])
  return table(['BOT', ...headings], rows)
}

function toRow({ createdAt, id, conversationId, status, unreadCount, user, member, title }: Handover): string[] {
  const unread = unreadCount === maxUnread ? `${maxUnread}+` : String(unreadCount)
  const names = [user?.name ?? user?.id ?? '', member?.name ?? '', title ?? '']
  return [localTime(createdAt), id, conversationId, status, unread, ...names]
}

function addTake(handovers: Command): void {
  handovers
    .command('take')
    .argument(...botArgument)
    .argument(...conversationArgument)
    .description('Takes a conversation over: you answer, and the bot does not.')
    .addHelpText('after', '\nExample:\n  $ isobot handovers take greeter conv_01JD2W6VYB0M3W6TQ5XKX1J9QZ\n')
    .action(async (idOrName: string, conversationId: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const path = await pathOf(botIdOf(connection, idOrName), conversationId)
      const taken = await connection.ask<'takeOverConversation'>('POST', `${path}/handover`, { body: {} })
      output.result(taken, `You answer in this conversation: handover ${taken.handover.id}`)
    })
}

function addReply(handovers: Command): void {
  handovers
    .command('reply')
    .argument(...botArgument)
    .argument(...conversationArgument)
    .argument('<text>', 'the message')
    .description('Sends a message in a conversation that you have taken over.')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot handovers reply greeter conv_01JD2W6VYB0M3W6TQ5XKX1J9QZ "How can I help?"\n',
    )
    .action(async (idOrName: string, conversationId: string, text: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const path = await pathOf(botIdOf(connection, idOrName), conversationId)
      const body = { type: 'text', payload: { text } }
      const sent = await connection.ask<'replyInConversation'>('POST', `${path}/messages`, { body })
      output.result(sent, 'Sent')
    })
}

function addResolve(handovers: Command): void {
  handovers
    .command('resolve')
    .argument(...botArgument)
    .argument('<handover>', 'the handover’s id')
    .description('Hands the conversation back to the bot.')
    .addHelpText('after', '\nExample:\n  $ isobot handovers resolve greeter handover_01JD2W6VYB0M3W6TQ5XKX1J9QZ\n')
    .action(async (idOrName: string, id: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const botId = await botIdOf(connection, idOrName)
      const path = `/v1/admin/bots/${botId}/handovers/${encodeURIComponent(id)}/resolve`
      const resolved = await connection.ask<'resolveHandover'>('POST', path, { body: {} })
      output.result(resolved, 'The bot answers again')
    })
}

async function pathOf(botId: Promise<string>, conversationId: string): Promise<string> {
  return `/v1/admin/bots/${await botId}/conversations/${encodeURIComponent(conversationId)}`
}
