import type { Context } from '../context.ts'
import { readQueueStats } from './queue-stats.ts'
import { readInTime } from './read-in-time.ts'

/** Adds the gauges of the queue. All processes share the queue, so each of them reports the same values. */
export function exposeQueueMetrics(context: Context): void {
  const { gauge } = context.metrics
  const state = () => readInTime(context.dependencies, () => readQueueStats(context))
  gauge({
    name: 'events_waiting',
    help: 'Events of all bots that are due and not started',
    read: async () => [[{}, (await state()).waiting]],
  })
  gauge({
    name: 'oldest_event_seconds',
    help: 'Age of the oldest event that is due and not started',
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
    help: 'Live workers',
    read: async () => [[{}, (await state()).workers]],
  })
  gauge({
    name: 'workers_suggested',
    help: 'Recommended number of workers, from the backlog and their load',
    read: async () => [[{}, (await state()).suggestedWorkers]],
  })
}
