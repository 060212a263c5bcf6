import type { Bot } from '#shared/models/bot.ts'
import { awaitHandledEvent, botFailure } from './await-handled-event.ts'
import { openChat } from './session.ts'
import type { Connection } from '../connection.ts'
import { describePayload, type Offer } from './describe-payload.ts'
import { failed, type Failure } from '../failure.ts'
import { describeWorkerProblem } from './worker-state.ts'
import type { Output } from '../output.ts'
import { chosen } from './terminal.ts'

interface PipedChatOptions {
  /** The messages to send. Each is sent after the bot has handled the previous one. */
  lines: AsyncIterable<string> | Iterable<string>
  output: Output
  /** Time limit for the handling of each message. */
  timeoutMilliseconds: number
  signal: AbortSignal
  /** Called when the bot failed to handle the last message. The conversation goes on. */
  onFailure(failure: Failure): void
}

/**
 * A non-interactive conversation: sends line by line and prints the bot's answers to each.
 * @throws Failure when the bot exceeds the time limit
 */
export async function pipeChat(connection: Connection, bot: Bot, options: PipedChatOptions): Promise<void> {
  const { lines, output, signal, timeoutMilliseconds, onFailure } = options
  let offers: Offer[] = []
  using session = await openChat(bot, connection.profile.url, {
    received(message) {
      const described = describePayload(message.payload)
      if (described.offers.length > 0) offers = described.offers
      output.item(message, described.text)
    },
  })
  for await (const line of lines) {
    if (signal.aborted) return
    const said = chosen(line.trim(), offers)
    if (said === undefined) continue
    offers = []
    const { id } = await session.say(said)
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMilliseconds)])
    const event = await awaitHandledEvent(connection, bot.id, id, { signal: inTime })
    if (signal.aborted) return
    if (event === undefined) throw await timedOut(connection, bot.name)
    await session.catchUp()
    const failure = botFailure(bot.name, event)
    if (failure) onFailure(failure)
  }
}

async function timedOut(connection: Connection, bot: string): Promise<Failure> {
  const problem = await describeWorkerProblem(connection)
  return failed(problem ?? `The bot did not answer in time: see \`isobot logs ${bot}\`, or raise --timeout`)
}
