import { Argument, Option, type Command } from 'commander'
import type { Bot } from '#shared/models/bot.ts'
import { listEvents, replayEvent, replayEvents, getEvent, type EventFilter } from '../events/bot-events.ts'
import type { Connection } from '../connection.ts'
import { readDuration, readMoment } from '../duration.ts'
import { exitCodes, misused } from '../failure.ts'
import { toolsOf, type Tools } from '../tools.ts'

interface EventsOptions {
  status?: string
  type?: string
  conversation?: string
  user?: string
  text?: string
  since?: string
  lines: string
  all?: boolean
  reason?: string
  yes?: boolean
  wait: string
}

export function addEventsCommand(program: Command): void {
  program
    .command('events')
    .argument('<bot>', 'its id or name')
    .addArgument(new Argument('[what]', 'what to do').choices(['list', 'show', 'replay']).default('list'))
    .argument('[event]', 'its id, for show and replay')
    .summary('list, show and replay what a bot has had to handle')
    .description(
      'What a bot has had to handle: the newest events, one with its payload, what its runs did and logged, or one that ' +
        'failed handled anew.',
    )
    .addOption(
      new Option('--status <status>', 'only of one status').choices([
        'scheduled',
        'canceled',
        'pending',
        'processed',
        'ignored',
        'failed',
      ]),
    )
    .option('--type <type>', 'only of one type, for instance message_created')
    .option('--conversation <id>', 'only of one conversation')
    .option('--user <id>', 'only of one user')
    .option('--text <words>', 'only with these words, or this id')
    .option('--since <time>', 'only from when on: 10m, 2h, 1d, or a date')
    .option('-n, --lines <number>', 'how many of the newest', '20')
    .option('--all', 'replay: all that failed, or those of a --type, --conversation or --reason')
    .option('--reason <words>', 'replay --all: only those with these words in the reason')
    .option('-y, --yes', 'replay --all: do not ask')
    .option('--wait <time>', 'replay: how long to wait for what comes of it', '30s')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot events greeter list --status failed\n  $ isobot events greeter show evt_01JD2W6VYB0M3W6TQ5XKX1J9QZ --json > event.json\n  $ isobot events greeter replay --all --reason timeout\n',
    )
    .action(
      async (idOrName: string, what: string, id: string | undefined, options: EventsOptions, command: Command) => {
        const tools = toolsOf(command)
        const act = plan(what, id, options, tools)
        const { findBot } = await import('../find-bot.ts')
        const connection = await tools.connect()
        await act(connection, await findBot(connection, idOrName))
      },
    )
}

type Act = (connection: Connection, bot: Bot) => Promise<void>

/** Validates the arguments before the first request. */
function plan(what: string, id: string | undefined, options: EventsOptions, tools: Tools): Act {
  if (what === 'list') {
    if (id !== undefined) throw misused(`list takes no event: did you mean \`show ${id}\`?`)
    return planList(options, tools)
  }
  if (what === 'replay' && options.all) {
    if (id !== undefined) throw misused('replay takes an event or --all, not both')
    return planReplayOfAll(options, tools)
  }
  if (id === undefined) {
    throw misused(`Say which event to ${what}: \`isobot events BOT list\` shows their ids`)
  }
  return what === 'show' ? planShow(id, tools) : planReplay(id, readDuration(options.wait), tools)
}

function planList({ lines, since, conversation, user, ...options }: EventsOptions, { output }: Tools): Act {
  if (!/^[1-9]\d*$/.test(lines)) throw misused(`-n takes a number of events, not "${lines}"`)
  const filter: EventFilter = {
    status: options.status,
    type: options.type,
    text: options.text,
    conversationId: conversation,
    userId: user,
    timeStart: since === undefined ? undefined : readMoment(since).toISOString(),
  }
  return async (connection, { id, name }) => {
    const { formatEvents } = await import('../events/format-event.ts')
    const events = await output.during('Listing events', listEvents(connection, id, filter, Number(lines)))
    output.result({ botId: id, events }, () =>
      events.length === 0 ? `${name} has had no such events` : formatEvents(events),
    )
  }
}

function planShow(id: string, { output }: Tools): Act {
  return async (connection, bot) => {
    const { formatEvent } = await import('../events/format-event.ts')
    const event = await getEvent(connection, bot.id, id)
    output.result({ event }, () => formatEvent(event))
  }
}

function planReplay(id: string, waitMilliseconds: number, { output }: Tools): Act {
  return async (connection, bot) => {
    await replayEvent(connection, bot.id, id)
    const deadline = Date.now() + waitMilliseconds
    const event = await output.during('Replaying', untilEnded(connection, bot.id, id, deadline))
    const { status, failureReason } = event
    if (status === 'failed') process.exitCode = exitCodes.failed
    const outcome = status === 'pending' ? 'is waiting for its turn' : `is ${status} now`
    output.result({ event }, `The event ${outcome}${failureReason ? `: ${failureReason}` : ''}`)
  }
}

const askMilliseconds = 100

async function untilEnded(connection: Connection, botId: string, id: string, deadline: number) {
  while (true) {
    const event = await getEvent(connection, botId, id)
    if (event.status !== 'pending' || Date.now() > deadline) return event
    await new Promise((resolve) => setTimeout(resolve, askMilliseconds))
  }
}

function planReplayOfAll({ reason, type, conversation, yes = false }: EventsOptions, { output }: Tools): Act {
  return async (connection, { id, name }) => {
    const { confirm } = await import('../confirm.ts')
    await confirm(`Have the failed events of ${name} handled anew?`, yes)
    const filter = { reason, type, conversationId: conversation }
    const replayed = await output.during('Replaying', replayEvents(connection, id, filter))
    output.result({ botId: id, replayed }, `${replayed} events are handled anew`)
  }
}
