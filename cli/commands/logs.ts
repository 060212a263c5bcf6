import { Option, type Command } from 'commander'
import { readMoment } from '../duration.ts'
import { misused } from '../failure.ts'
import { toolsOf } from '../tools.ts'
import type { LogFilter, LogLine } from '../events/follow-logs.ts'

interface LogsOptions {
  follow?: boolean
  level?: LogLine['level']
  conversation?: string
  event?: string
  text?: string
  since?: string
  lines: string
}

export function addLogsCommand(program: Command): void {
  program
    .command('logs')
    .argument('<bot>', 'the bot’s id or name')
    .summary('read and follow a bot’s log')
    .description(
      'Prints the last lines of a bot’s log; with -f also new lines, until Ctrl-C, across restarts of the platform.',
    )
    .option('-f, --follow', 'print new lines as they are logged')
    .addOption(
      new Option('--level <level>', 'the minimum level: warn prints warnings and errors').choices([
        'debug',
        'info',
        'warn',
        'error',
      ]),
    )
    .option('--conversation <id>', 'only lines of this conversation')
    .option('--event <id>', 'only lines of this event')
    .option('--text <words>', 'only lines with this text, case-insensitive')
    .option('--since <time>', 'from when on: 10m, 2h, 1d, or a date')
    .option('-n, --lines <number>', 'the number of lines', '50')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot logs greeter -f --level warn\n  $ isobot logs greeter --since 1h --text timeout --json | jq -r .message\n',
    )
    .action(async (idOrName: string, options: LogsOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { level, conversation, event, text } = options
      const filter: LogFilter = { level, conversationId: conversation, eventId: event, messageContains: text }
      const since = options.since === undefined ? undefined : readMoment(options.since)
      const lines = readCount(options.lines)
      const [{ findBot }, { untilInterrupted }, { followLogs, formatLine, readLogs }] = await Promise.all([
        import('../find-bot.ts'),
        import('../start/interrupt.ts'),
        import('../events/follow-logs.ts'),
      ])
      const connection = await connect()
      const { id } = await findBot(connection, idOrName)
      const print = (line: LogLine) => output.item(line, () => formatLine(line))
      if (!options.follow) {
        const limit = since && command.getOptionValueSource('lines') === 'default' ? Infinity : lines
        for (const line of await output.during('Reading the log', readLogs(connection, id, filter, { since, limit }))) {
          print(line)
        }
        return
      }
      using interruption = untilInterrupted()
      const { signal } = interruption
      const followed = followLogs(connection, id, filter, {
        signal,
        since,
        last: Math.min(lines, maxConcurrent),
        connected: (failure) => output.note(failure ? `${failure.message}. Retrying …` : 'Connected again'),
        cut: () =>
          output.note('Lines were left out because too many were logged: `isobot logs` without -f has all lines'),
      })
      for await (const line of followed) print(line)
    })
}

const maxConcurrent = 100

function readCount(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw misused(`-n takes a number of lines, not "${text}"`)
}
