import { Argument, Option, type Command } from 'commander'
import type { Bot } from '#shared/models/bot.ts'
import { listEvents, replayEvent, replayEvents, getEvent, type EventFilter } from '../events/bot-events.ts'
import type { Connection } from '../connection.ts'
import { readDuration, readMoment } from '../duration.ts'
import { exitCodes, misused } from '../failure.ts'
import { throughOutages } from '../through-outages.ts'
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
    .argument('<bot>', 'the bot’s id or name')
    .addArgument(new Argument('[what]', 'list, show or replay').choices(['list', 'show', 'replay']).default('list'))
    .argument('[event]', 'the event’s id, for show and replay')
    .summary('list, show and replay the events of a bot')
    .description(
      'Lists the newest events of a bot, shows one event with its payload, its runs and its log, or replays failed ' +
        'events.',
    )
    .addOption(
      new Option('--status <status>', 'only events with this status').choices([
        'scheduled',
        'canceled',
        'pending',
        'processed',
        'ignored',
        'failed',
      ]),
    )
    .option('--type <type>', 'only events of this type, for instance message_created')
    .option('--conversation <id>', 'only events of this conversation')
    .option('--user <id>', 'only events of this user')
    .option('--text <words>', 'only events with this text or this id')
    .option('--since <time>', 'only events since: 10m, 2h, 1d, or a date')
    .option('-n, --lines <number>', 'the number of events', '20')
    .option('--all', 'replay: all failed events, or those of a --type, --conversation or --reason')
    .option('--reason <words>', 'replay --all: only events with this text in the reason')
    .option('-y, --yes', 'replay --all: skip the confirmation')
    .option('--wait <time>', 'replay: how long to wait for the outcome', '30s')
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
    throw misused(`Name the event to ${what}: \`isobot events BOT list\` shows the ids`)
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
      events.length === 0 ? `${name} has no such events` : formatEvents(events),
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
    const outcome = status === 'pending' ? 'is still waiting' : `is ${status} now`
    output.result({ event }, `The event ${outcome}${failureReason ? `: ${failureReason}` : ''}`)
  }
}

const askMilliseconds = 100

async function untilEnded(connection: Connection, botId: string, id: string, deadline: number) {
  while (true) {
    const event = await throughOutages(() => getEvent(connection, botId, id))
    if (event.status !== 'pending' || Date.now() > deadline) return event
    await new Promise((resolve) => setTimeout(resolve, askMilliseconds))
  }
}

function planReplayOfAll({ reason, type, conversation, yes = false }: EventsOptions, { output }: Tools): Act {
  return async (connection, { id, name }) => {
    const { confirm } = await import('../confirm.ts')
    await confirm(`Replay the failed events of ${name}?`, yes)
    const filter = { reason, type, conversationId: conversation }
    const replayed = await output.during('Replaying', replayEvents(connection, id, filter))
    output.result({ botId: id, replayed }, `${replayed} events are being replayed`)
  }
}
