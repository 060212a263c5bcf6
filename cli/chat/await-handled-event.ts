import { setTimeout as delay } from 'node:timers/promises'
import type { RuntimeEvent } from '#shared/models/event.ts'
import type { Connection } from '../connection.ts'
import { failed, type Failure } from '../failure.ts'

const minDelayMilliseconds = 50
const maxDelayMilliseconds = 1000

/**
 * Waits until a bot has handled a message. The polling interval grows with the elapsed time.
 *
 * @param options.survivesOutages whether failed requests are ignored; they throw by default
 * @returns the message's event; undefined when the signal aborts first
 */
export async function awaitHandledEvent(
  { ask }: Pick<Connection, 'ask'>,
  botId: string,
  messageId: string,
  { signal, survivesOutages = false }: { signal: AbortSignal; survivesOutages?: boolean },
): Promise<RuntimeEvent | undefined> {
  const startedAt = Date.now()
  while (!signal.aborted) {
    const request = { botId, query: { messageId } }
    const [event] = await ask<'runtimeListEvents'>('GET', '/v1/chat/events', request).then(
      ({ events }) => events,
      (error: unknown) => {
        if (!survivesOutages) throw error
        return []
      },
    )
    if (event && event.status !== 'pending') return event
    const milliseconds = Math.min(Math.max((Date.now() - startedAt) / 10, minDelayMilliseconds), maxDelayMilliseconds)
    await delay(milliseconds, undefined, { signal }).catch(() => {})
  }
  return undefined
}

/** The failure of an event, with its reason and the command that shows details; undefined when it did not fail. */
export function botFailure(botName: string, event: RuntimeEvent | undefined): Failure | undefined {
  if (event?.status !== 'failed') return undefined
  return failed(
    `The bot failed: ${event.failureReason ?? 'no reason is recorded'}. \`isobot events ${botName} show ${event.id}\` has the details`,
    { type: 'BotFailed', details: { eventId: event.id } },
  )
}
