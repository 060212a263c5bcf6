import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { failed, Failure } from '../failure.ts'

/** An event of a bot, as lists show it. */
export type EventSummary = AnswerOf<'listBotEvents'>['events'][number]

/** An event of a bot with all its fields. */
export type EventInFull = AnswerOf<'getBotEvent'>['event']

/** Selects events of a bot; undefined fields do not filter. */
export interface EventFilter {
  status?: string | undefined
  type?: string | undefined
  conversationId?: string | undefined
  userId?: string | undefined
  text?: string | undefined
  timeStart?: string | undefined
}

/** The newest events of a bot. */
export async function listEvents(
  { list }: Connection,
  botId: string,
  filter: EventFilter,
  limit: number,
): Promise<EventSummary[]> {
  return Array.fromAsync(
    list<EventSummary>(`/v1/admin/bots/${botId}/events`, 'events', { query: { ...filter }, limit }),
  )
}

/** @throws Failure when the bot has no such event */
export async function getEvent({ ask }: Connection, botId: string, id: string): Promise<EventInFull> {
  const path = `/v1/admin/bots/${botId}/events/${encodeURIComponent(id)}`
  return (await ask<'getBotEvent'>('GET', path)).event
}

/** Replays an event that failed finally. */
export async function replayEvent({ ask }: Connection, botId: string, id: string): Promise<void> {
  await ask('POST', `/v1/admin/bots/${botId}/failed-events/${encodeURIComponent(id)}/replay`)
}

/**
 * Replays all events that have failed by now and match the filter.
 *
 * @returns the number of replayed events
 * @throws Failure with that number, when the backlog limit refuses the others
 */
export async function replayEvents(
  { ask }: Connection,
  botId: string,
  filter: { reason?: string | undefined; type?: string | undefined; conversationId?: string | undefined },
): Promise<number> {
  const body = { ...filter, beforeDate: new Date().toISOString() }
  let sum = 0
  while (true) {
    const path = `/v1/admin/bots/${botId}/failed-events/replay`
    const { replayed } = await ask<'replayFailedEvents'>('POST', path, { body }).catch((error: unknown) => {
      throw error instanceof Failure && error.type === 'RateLimited' ? backlogFull(error, sum) : error
    })
    if (replayed === 0) return sum
    sum += replayed
  }
}

function backlogFull(cause: Failure, sum: number): Failure {
  return failed(
    `${sum} events are being replayed, the others are unchanged: ${cause.message}. Then run the same command again`,
    {
      cause,
      type: 'RateLimited',
      details: { replayed: sum },
    },
  )
}
