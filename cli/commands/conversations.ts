import type { Command } from 'commander'
import { readMoment } from '../duration.ts'
import { readCount } from '../read-count.ts'
import { toolsOf } from '../tools.ts'

export function addConversationsCommand(program: Command): void {
  const conversations = program
    .command('conversations')
    .summary('list, search and read the conversations of a bot')
    .description('The conversations of a bot. The audit log of the workspace has who read them.')
    .addHelpText('after', '\nExample:\n  $ isobot conversations list greeter --text refund --since 1d\n')
  addList(conversations)
  addShow(conversations)
}

interface ListOptions {
  text?: string
  user?: string
  integration?: string
  since?: string
  lines: string
}

function addList(conversations: Command): void {
  conversations
    .command('list')
    .argument('<bot>', 'the bot’s id or name')
    .description('Lists the conversations of a bot, those with the newest messages first.')
    .option('--text <words>', 'only conversations with a message that has this text')
    .option('--user <words>', 'only conversations with a user whose name has this text')
    .option('--integration <name>', 'only conversations of this integration')
    .option('--since <time>', 'only messages since: 10m, 2h, 1d, or a date')
    .option('-n, --lines <number>', 'the number of conversations', '20')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot conversations list greeter --user Ada --json | jq -r .conversations[].id\n',
    )
    .action(async (idOrName: string, { text, user, integration, since, lines }: ListOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const limit = readCount(lines)
      const timeStart = since === undefined ? undefined : readMoment(since).toISOString()
      const [{ findBot }, { listConversations }, { formatConversations }] = await Promise.all([
        import('../find-bot.ts'),
        import('../conversations/read-conversations.ts'),
        import('../conversations/format-conversations.ts'),
      ])
      const connection = await connect()
      const { id: botId, name } = await findBot(connection, idOrName)
      const filter = { text, userName: user, integration, timeStart }
      const found = await output.during('Searching', listConversations(connection, botId, filter, limit))
      output.result({ botId, conversations: found }, () =>
        found.length === 0 ? `${name} has no such conversations` : formatConversations(found),
      )
    })
}

function addShow(conversations: Command): void {
  conversations
    .command('show')
    .argument('<bot>', 'the bot’s id or name')
    .argument('<conversation>', 'the conversation’s id')
    .description('Prints the newest messages of a conversation, of both sides.')
    .option('-n, --lines <number>', 'the number of messages', '50')
    .addHelpText('after', '\nExample:\n  $ isobot conversations show greeter conv_01JD2W6VYB0M3W6TQ5XKX1J9QZ\n')
    .action(async (idOrName: string, id: string, { lines }: { lines: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const limit = readCount(lines)
      const [{ botIdOf }, { readTranscript }, { formatTranscript }] = await Promise.all([
        import('../find-bot.ts'),
        import('../conversations/read-conversations.ts'),
        import('../conversations/format-conversations.ts'),
      ])
      const connection = await connect()
      const botId = await botIdOf(connection, idOrName)
      const transcript = await output.during('Reading', readTranscript(connection, botId, id, limit))
      output.result(transcript, () => formatTranscript(transcript))
    })
}
