import { Argument, type Command } from 'commander'
import type { Connection } from '../connection.ts'
import { readCount } from '../read-count.ts'
import { toolsOf } from '../tools.ts'

export function addInboxCommand(program: Command): void {
  const inbox = program
    .command('inbox')
    .summary('list the conversations in which people answer, and answer in them')
    .description('The handovers of conversations to people, in all bots of the workspace.')
    .addHelpText('after', '\nExample:\n  $ isobot inbox list waiting\n')
  addList(inbox)
  addShow(inbox)
  addTake(inbox)
  addReply(inbox)
  addNote(inbox)
  addAssign(inbox)
  addRelease(inbox)
  addResolve(inbox)
}

const handoverArgument = ['<handover>', 'the id of the handover, or of its conversation'] as const
const anExample = 'handover_01JD2W6VYB0M3W6TQ5XKX1J9QZ'

const queues = {
  waiting: { status: 'pending' },
  mine: { status: 'open' },
  open: { status: 'open' },
  ended: { status: 'ended' },
  all: { status: 'all' },
} as const

interface ListOptions {
  bot?: string
  search?: string
  lines: string
}

function addList(inbox: Command): void {
  inbox
    .command('list')
    .addArgument(new Argument('[queue]', 'the handovers to list').choices(Object.keys(queues)).default('open'))
    .description(
      'Lists handovers: those that wait, your own, all in progress, those that have ended, or all. The longest in progress ' +
        'comes first; of others, the newest.',
    )
    .option('--bot <bot>', 'only those of this bot: its id or name; agents name its id')
    .option(
      '--search <text>',
      'only those with this text in the title, the description or the user’s name, or of this id',
    )
    .option('-n, --lines <number>', 'the number of handovers', '20')
    .addHelpText('after', '\nExamples:\n  $ isobot inbox list mine\n  $ isobot inbox list all --search refund\n')
    .action(async (queue: keyof typeof queues, { bot, search, lines }: ListOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const limit = readCount(lines)
      const [{ botIdOf }, { formatHandovers }, { listHandovers }] = await Promise.all([
        import('../find-bot.ts'),
        import('../inbox/format-inbox.ts'),
        import('../inbox/handovers.ts'),
      ])
      const connection = await connect()
      const query = {
        ...queues[queue],
        memberId: queue === 'mine' ? await ownId(connection) : undefined,
        botId: bot && (await botIdOf(connection, bot)),
        text: search,
      }
      const handovers = await output.during('Listing', listHandovers(connection, query, limit))
      output.result({ handovers }, () => formatHandovers(handovers))
    })
}

async function ownId({ ask }: Connection): Promise<string> {
  return (await ask<'getAccount'>('GET', '/v1/admin/account/me')).account.id
}

function addShow(inbox: Command): void {
  inbox
    .command('show')
    .argument(...handoverArgument)
    .description('Prints the newest messages of a handover’s conversation, and the notes of members.')
    .option('-n, --lines <number>', 'the number of messages', '50')
    .addHelpText('after', `\nExample:\n  $ isobot inbox show ${anExample}\n`)
    .action(async (id: string, { lines }: { lines: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const limit = readCount(lines)
      const [{ findHandover, listNotes }, { formatNotes }, { readTranscript }, { formatTranscript }] =
        await Promise.all([
          import('../inbox/handovers.ts'),
          import('../inbox/format-inbox.ts'),
          import('../conversations/read-conversations.ts'),
          import('../conversations/format-conversations.ts'),
        ])
      const connection = await connect()
      const found = await findHandover(connection, id)
      const transcript = readTranscript(connection, found.bot.id, found.conversationId, limit)
      const [read, notes] = await output.during('Reading', Promise.all([transcript, listNotes(connection, found)]))
      output.result({ ...read, notes }, () => formatTranscript(read) + formatNotes(notes))
    })
}

function addTake(inbox: Command): void {
  inbox
    .command('take')
    .argument(...handoverArgument)
    .option('--bot <bot>', 'the bot of a conversation that no person is asked for: its id or name')
    .description('Takes a conversation over: you answer, and the bot does not.')
    .addHelpText(
      'after',
      `\nExamples:\n  $ isobot inbox take ${anExample}\n` +
        '  $ isobot inbox take conv_01JD2W6VYB0M3W6TQ5XKX1J9QZ --bot greeter\n',
    )
    .action(async (id: string, { bot }: { bot?: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const [{ botIdOf }, { conversationPath, findHandover }] = await Promise.all([
        import('../find-bot.ts'),
        import('../inbox/handovers.ts'),
      ])
      const place =
        bot === undefined
          ? await findHandover(connection, id)
          : { bot: { id: await botIdOf(connection, bot) }, conversationId: id }
      const taken = await connection.ask<'takeOverConversation'>('POST', `${conversationPath(place)}/handover`)
      output.result(taken, `You answer in this conversation: handover ${taken.handover.id}`)
    })
}

function addReply(inbox: Command): void {
  inbox
    .command('reply')
    .argument(...handoverArgument)
    .argument('<text>', 'the message')
    .description('Sends a message in a conversation that you have taken over.')
    .addHelpText('after', `\nExample:\n  $ isobot inbox reply ${anExample} "How can I help?"\n`)
    .action(async (id: string, text: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const { conversationPath, findHandover } = await import('../inbox/handovers.ts')
      const path = `${conversationPath(await findHandover(connection, id))}/messages`
      const body = { type: 'text', payload: { text } }
      output.result(await connection.ask<'replyInConversation'>('POST', path, { body }), 'Sent')
    })
}

function addNote(inbox: Command): void {
  inbox
    .command('note')
    .argument(...handoverArgument)
    .argument('<text>', 'the note')
    .description('Writes a note for other members, which neither the user nor the bot sees.')
    .addHelpText('after', `\nExample:\n  $ isobot inbox note ${anExample} "Has paid twice"\n`)
    .action(async (id: string, text: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const { findHandover, handoverPath } = await import('../inbox/handovers.ts')
      const path = `${handoverPath(await findHandover(connection, id))}/notes`
      output.result(await connection.ask<'createHandoverNote'>('POST', path, { body: { text } }), 'Noted')
    })
}

function addAssign(inbox: Command): void {
  inbox
    .command('assign')
    .argument(...handoverArgument)
    .argument('<member>', 'the member’s name, or the id of the account')
    .description('Assigns a handover to a member who may answer.')
    .addHelpText('after', `\nExample:\n  $ isobot inbox assign ${anExample} "Ada Lovelace"\n`)
    .action(async (id: string, idOrName: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const { assign, findHandover, findMember } = await import('../inbox/handovers.ts')
      const member = await findMember(connection, idOrName)
      const assigned = await assign(connection, await findHandover(connection, id), member.id)
      const isThere = member.status === 'online' ? '' : `, whose inbox is ${member.status}`
      output.result(assigned, `Assigned to ${member.name}${isThere}`)
    })
}

function addRelease(inbox: Command): void {
  inbox
    .command('release')
    .argument(...handoverArgument)
    .description('Lets a handover wait for another member.')
    .addHelpText('after', `\nExample:\n  $ isobot inbox release ${anExample}\n`)
    .action(async (id: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const { assign, findHandover } = await import('../inbox/handovers.ts')
      output.result(await assign(connection, await findHandover(connection, id), null), 'It waits for another member')
    })
}

function addResolve(inbox: Command): void {
  inbox
    .command('resolve')
    .argument(...handoverArgument)
    .description('Hands the conversation back to the bot.')
    .addHelpText('after', `\nExample:\n  $ isobot inbox resolve ${anExample}\n`)
    .action(async (id: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const { findHandover, handoverPath } = await import('../inbox/handovers.ts')
      const path = `${handoverPath(await findHandover(connection, id))}/resolve`
      output.result(await connection.ask<'resolveHandover'>('POST', path), 'The bot answers again')
    })
}
