import { expect, vi } from 'vitest'
import type { EventRow } from '#shared/models/tables.ts'
import type { Platform } from './platform.ts'

/** The events of a bot that no worker runs, now or later. */
export const eventsAtEnd = (platform: Platform, botId: string) =>
  platform.context.db('events').where({ bot_id: botId }).whereNotIn('status', ['scheduled', 'pending'])

/** Waits until `count` events of a bot have ended; returns them in the order of their creation. */
export async function endedEvents(
  platform: Platform,
  botId: string,
  count: number,
  timeout = 50_000,
): Promise<EventRow[]> {
  const ended = () => eventsAtEnd(platform, botId)
  const countEnded = async () => Number((await ended().count<{ count: string }[]>())[0]!.count)
  // `expect.poll` belongs to one test at a time, and some tests run concurrently.
  await vi.waitFor(async () => expect(await countEnded()).toBeGreaterThanOrEqual(count), {
    timeout,
    interval: 20,
  })
  return ended().orderBy(['created_at', 'id'])
}

/** The texts of the bot's messages in a conversation, oldest first. */
export async function replies(platform: Platform, conversationId: string): Promise<string[]> {
  const rows = await platform.context
    .db('messages')
    .where({ conversation_id: conversationId, direction: 'outgoing' })
    .orderBy(['created_at', 'id'])
  return rows.map(({ payload }) => String(payload['text']))
}
