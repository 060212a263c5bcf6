import type { Knex } from 'knex'
import type { RunOfSignal } from '#shared/signals/after-commit.ts'

/** Message streams of a conversation that are kept in mind. Of further ones, listeners wait for the message. */
const maxStreams = 100

/**
 * The message streams of one conversation that have begun and not ended, with their runs. A worker that is killed cannot
 * abort the streams of its runs: they are found here, because their runs have ended.
 */
export interface OpenStreams {
  /** @returns the streams of earlier runs of the same event, which are over now */
  begun(streamId: string, run: RunOfSignal): string[]
  ended(streamId: string): void
  eventIds(): string[]
  /**
   * Removes the streams whose run is not the newest of a waiting event.
   *
   * @param attempts of the waiting events among `asked`, by id
   * @returns their ids
   */
  compare(asked: ReadonlySet<string>, attempts: ReadonlyMap<string, number>): string[]
}

export function openStreams(): OpenStreams {
  const runs = new Map<string, RunOfSignal>()

  function remove(isOver: (run: RunOfSignal) => boolean): string[] {
    const over = Array.from(runs).flatMap(([streamId, run]) => (isOver(run) ? [streamId] : []))
    for (const streamId of over) runs.delete(streamId)
    return over
  }

  return {
    begun(streamId, run) {
      const over = remove(({ eventId, attempt }) => eventId === run.eventId && attempt < run.attempt)
      if (runs.size < maxStreams) runs.set(streamId, run)
      return over
    },
    ended: (streamId) => void runs.delete(streamId),
    eventIds: () => Array.from(runs.values(), ({ eventId }) => eventId),
    compare: (asked, attempts) =>
      remove(({ eventId, attempt }) => asked.has(eventId) && (attempts.get(eventId) ?? Infinity) > attempt),
  }
}

/** Reads how often the waiting ones of these events have been claimed. */
export async function readAttempts(db: Knex, eventIds: string[]): Promise<Map<string, number>> {
  const rows = await db('events')
    .whereRaw('id = any(?)', [eventIds])
    .where({ status: 'pending' })
    .select('id', 'attempt')
  return new Map(rows.map(({ id, attempt }) => [id, attempt]))
}
