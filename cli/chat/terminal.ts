import { createInterface } from 'node:readline'
import type { Bot } from '#shared/models/bot.ts'
import type { ChatMessage } from '#shared/chat-client/chat-stream.ts'
import { awaitHandledEvent, botFailure } from './await-handled-event.ts'
import { openChat, type ChatListener, type Said } from './session.ts'
import type { Connection } from '../connection.ts'
import { describePayload, type Offer } from './describe-payload.ts'
import { withoutControlCharacters, printable, styled } from '../output.ts'
import { describeWorkerProblem } from './worker-state.ts'

/** An interactive conversation: a person types at the terminal while the bot answers. */
export interface TerminalChat extends Disposable {
  /** Prints a text above the line that is being typed. */
  print(text: string): void
  /** Resolves when the person ends the conversation with Ctrl-C, Ctrl-D or `/quit`. */
  readonly ended: Promise<void>
}

/** Longer than a message waits while workers are alive. */
const answerMilliseconds = 15_000
const clearLine = '\r\u001B[J'

/**
 * Opens a conversation with a bot at the terminal. Each typed line is sent; a number picks a choice of the bot.
 *
 * @param options.showsFailures whether to print that the bot failed to handle a message; not needed where the bot's log
 *   is shown
 */
export async function openTerminalChat(
  bot: Pick<Bot, 'id' | 'name' | 'integrations'>,
  connection: Connection,
  { showsFailures }: { showsFailures: boolean },
): Promise<TerminalChat> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: styled('dim', '> ') })
  const ended = new Promise<void>((resolve) => terminal.once('close', resolve))
  const voice = styled('cyan', `${withoutControlCharacters(bot.name)} `)
  const streams = new Map<string, string>()
  let offers: Offer[] = []
  let answerTimer: NodeJS.Timeout | undefined

  /** Prints why no worker handles the message, if that is so. */
  const checkWorkers = async () => {
    const problem = await describeWorkerProblem(connection)
    if (problem !== undefined) print(styled('yellow', problem))
  }

  const closed = new AbortController()
  terminal.once('close', () => closed.abort())

  /** Prints that the bot failed to handle a message, if it did. */
  const findFailure = async (messageId: string) => {
    const event = await awaitHandledEvent(connection, bot.id, messageId, {
      signal: closed.signal,
      survivesOutages: true,
    })
    const failure = botFailure(bot.name, event)
    if (failure === undefined) return
    clearTimeout(answerTimer)
    print(styled('red', withoutControlCharacters(failure.message)))
  }

  const say = async (said: Said) => {
    const { id } = await session.say(said)
    if (showsFailures) await findFailure(id)
  }

  /** Prints above the line that is being typed, which stays, or below the message that is being streamed. */
  const print = (text: string) => {
    const isWriting = streams.size > 0
    process.stdout.write(`${isWriting ? '\n' : clearLine}${printable(text)}\n`)
    if (!isWriting) terminal.prompt(true)
  }
  const listener: ChatListener = {
    received(message) {
      clearTimeout(answerTimer)
      const described = describePayload(message.payload)
      if (described.offers.length > 0) offers = described.offers
      const shown = streamed(message, streams)
      if (shown === undefined) return print(voice + indent(described.text, bot.name.length + 1))
      process.stdout.write('\n')
      if (shown === described.text) terminal.prompt(true)
      else print(voice + indent(described.text, bot.name.length + 1))
    },
    streamed(streamId, delta) {
      const before = streams.get(streamId)
      const part = withoutControlCharacters(delta)
      streams.set(streamId, (before ?? '') + part)
      const text = indent(part, bot.name.length + 1)
      process.stdout.write(before === undefined ? `${clearLine}${voice}${text}` : text)
    },
    aborted(streamId) {
      if (!streams.delete(streamId)) return
      process.stdout.write(styled('dim', ' … aborted\n'))
      terminal.prompt(true)
    },
    connected: (isConnected) => print(styled('dim', isConnected ? 'Connected again' : 'Connection lost; retrying')),
  }
  // Lines typed while the conversation opens are sent when it is open.
  const early: string[] = []
  const keep = (line: string) => early.push(line)
  terminal.on('line', keep)
  const session = await openChat(bot, connection.profile.url, listener).catch((error: unknown) => {
    terminal.close()
    throw error
  })

  const take = (line: string): void => {
    const text = line.trim()
    if (text === '/quit') return terminal.close()
    const said = chosen(text, offers)
    if (said === undefined) return terminal.prompt()
    offers = []
    terminal.prompt()
    clearTimeout(answerTimer)
    answerTimer = setTimeout(() => void checkWorkers(), answerMilliseconds).unref()
    say(said).catch((error: unknown) => print(styled('red', withoutControlCharacters((error as Error).message))))
  }
  terminal.off('line', keep)
  terminal.on('line', take)
  terminal.prompt()
  for (const line of early) take(line)
  return {
    print,
    ended,
    [Symbol.dispose]() {
      clearTimeout(answerTimer)
      terminal.close()
      session[Symbol.dispose]()
    },
  }
}

/** The message of a typed line: the choice with this number, or the line itself; undefined when it is empty. */
export function chosen(line: string, offers: readonly Offer[]): Said | undefined {
  if (line === '') return undefined
  const offer = /^\d+$/.test(line) ? offers[Number(line) - 1] : undefined
  return offer && !offer.isAddress ? { text: offer.label, value: offer.value } : { text: line }
}

/** The text shown while a message was streamed; undefined when it was not streamed. */
function streamed({ metadata }: ChatMessage, streams: Map<string, string>): string | undefined {
  const id = metadata?.streamId
  if (typeof id !== 'string') return undefined
  const shown = streams.get(id)
  streams.delete(id)
  return shown
}

function indent(text: string, width: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(width)}`)
}
