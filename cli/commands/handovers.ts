import { Option, type Command } from 'commander'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import { handoverStatuses } from '#shared/models/tables.ts'
import { botIdOf } from '../find-bot.ts'
import { localTime, table } from '../output.ts'
import { readCount } from '../read-count.ts'
import { toolsOf } from '../tools.ts'

type Handover = AnswerOf<'listHandovers'>['handovers'][number]

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

function addList(handovers: Command): void {
  handovers
    .command('list')
    .argument(...botArgument)
    .description('Lists the handovers of a bot, the newest first.')
    .addOption(new Option('--status <status>', 'only those').choices(['open', ...handoverStatuses]).default('open'))
    .option('-n, --lines <number>', 'the number of handovers', '20')
    .addHelpText('after', '\nExample:\n  $ isobot handovers list greeter --status resolved\n')
    .action(async (idOrName: string, { status, lines }: { status: string; lines: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const limit = readCount(lines)
      const connection = await connect()
      const botId = await botIdOf(connection, idOrName)
      const listed = connection.list<Handover>(`/v1/admin/bots/${botId}/handovers`, 'handovers', {
        query: { status },
        limit,
      })
      const found = await output.during('Listing', Array.fromAsync(listed))
      output.result({ botId, handovers: found }, () => (found.length === 0 ? 'There are none' : format(found)))
    })
}

function format(handovers: readonly Handover[]): string {
  const rows = handovers.map(({ createdAt, id, conversationId, status, user, member, title }) => [
    localTime(createdAt),
    id,
    conversationId,
    status,
    user?.name ?? user?.id ?? '',
    member?.name ?? '',
    title ?? '',
  ])
  return table(['CREATED', 'ID', 'CONVERSATION', 'STATUS', 'USER', 'MEMBER', 'TITLE'], rows)
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
