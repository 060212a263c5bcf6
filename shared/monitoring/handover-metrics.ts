import type { Context } from '../context.ts'
import { countAllPresent } from '../store/presences.ts'
import { readOpenHandovers } from '../store/stored-totals.ts'
import { readInTime } from './read-in-time.ts'

/** Adds the gauges of handovers and of the members who answer. All processes report the same values. */
export function exposeHandoverMetrics({
  db,
  dependencies,
  metrics: { gauge },
}: Pick<Context, 'db' | 'dependencies' | 'metrics'>): void {
  const handovers = () => readInTime(dependencies, () => readOpenHandovers(db))
  gauge({
    name: 'handovers_in_progress',
    help: 'Handovers in progress of all bots',
    labels: ['status'],
    read: async () => {
      const { pending, assigned } = await handovers()
      return [
        [{ status: 'pending' }, pending],
        [{ status: 'assigned' }, assigned],
      ]
    },
  })
  gauge({
    name: 'oldest_pending_handover_seconds',
    help: 'Age of the oldest handover that no member has taken',
    read: async () => [[{}, (await handovers()).oldestPendingSeconds]],
  })
  gauge({
    name: 'members_present',
    help: 'Members whose inbox is open, of all workspaces',
    labels: ['status'],
    read: async () => {
      const { online, away } = await readInTime(dependencies, () => countAllPresent(db))
      return [
        [{ status: 'online' }, online],
        [{ status: 'away' }, away],
      ]
    },
  })
}
