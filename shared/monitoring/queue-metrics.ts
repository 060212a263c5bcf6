import type { Context } from '../context.ts'
import { readQueueStats } from './queue-stats.ts'

/** Adds the gauges of the queue. All processes share it, so that each of them answers with the same values. */
export function exposeQueueMetrics(context: Context): void {
  const { gauge } = context.metrics
  const state = () => readQueueStats(context)
  gauge({
    name: 'events_waiting',
    help: 'Events that are due and not begun, of all bots',
    read: async () => [[{}, (await state()).waiting]],
  })
  gauge({
    name: 'oldest_event_seconds',
    help: 'How long the oldest of them has waited',
    read: async () => [[{}, (await state()).oldestWaitingSeconds]],
  })
  gauge({
    name: 'queue_jobs',
    help: 'Jobs in the queue',
    labels: ['state'],
    read: async () => Object.entries((await state()).jobs).map(([name, count]) => [{ state: name }, count]),
  })
  gauge({
    name: 'workers',
    help: 'Workers that are there',
    read: async () => [[{}, (await state()).workers]],
  })
  gauge({
    name: 'workers_suggested',
    help: 'How many workers there should be, by what waits and how busy they are',
    read: async () => [[{}, (await state()).suggestedWorkers]],
  })
}
