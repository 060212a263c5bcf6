import { setTimeout as delay } from 'node:timers/promises'
import type { Bot } from '#shared/models/bot.ts'
import type { RuntimeEvent } from '#shared/models/event.ts'
import { openChat } from './session.ts'
import type { Connection } from '../connection.ts'
import { describePayload, type Offer } from './describe-payload.ts'
import { failed } from '../failure.ts'
import { describeWorkerProblem } from './worker-state.ts'
import type { Output } from '../output.ts'
import { chosen } from './terminal.ts'

interface PipedChatOptions {
  /** What is said, one after the other: each when the bot has done with the one before. */
  lines: AsyncIterable<string> | Iterable<string>
  output: Output
  /** How long the bot may take over each. */
  timeoutMilliseconds: number
  signal: AbortSignal
}

/**
 * A conversation without anybody at a terminal: says line by line, and prints what the bot answers to each.
 * @throws Failure when the bot fails to handle one, or takes too long
 */
export async function pipeChat(connection: Connection, bot: Bot, options: PipedChatOptions): Promise<void> {
  const { lines, output, signal, timeoutMilliseconds } = options
  let offers: Offer[] = []
  await using session = await openChat(bot, connection.profile.url, {
    heard(message) {
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
    const event = await untilHandled(connection, bot.id, id, { signal, deadline: Date.now() + timeoutMilliseconds })
    await session.catchUp()
    if (event?.status === 'failed') {
      throw failed(
        `The bot failed: ${event.failureReason ?? 'it did not say why'}. \`isobot events ${bot.name} show ${event.id}\` tells more`,
        { type: 'BotFailed', details: { eventId: event.id } },
      )
    }
  }
}

const askMilliseconds = 50

async function untilHandled(
  { ask }: Connection,
  botId: string,
  messageId: string,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
): Promise<RuntimeEvent | undefined> {
  while (!signal.aborted) {
    const request = { botId, query: { messageId } }
    const { events } = await ask<{ events: RuntimeEvent[] }>('GET', '/v1/chat/events', request)
    const [event] = events
    if (event && event.status !== 'pending') return event
    if (Date.now() > deadline) {
      const problem = await describeWorkerProblem({ ask })
      if (problem !== undefined) throw failed(problem)
      throw failed('The bot has not answered in time: `isobot logs` may tell why, and --timeout makes it wait longer')
    }
    await delay(askMilliseconds)
  }
  return undefined
}
