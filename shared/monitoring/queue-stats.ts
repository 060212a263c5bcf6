import type { Context } from '../context.ts'
import { readBacklog, type Backlog } from '../store/backlog.ts'
import { liveWorkers } from '../store/workers.ts'

/** The backlog, and the number of workers that it requires. */
export interface QueueStats {
  /** Events that are due and not started. */
  waiting: number
  /** Age of the oldest event that is due and not started: the latency of the queue. */
  oldestWaitingSeconds: number
  /** Jobs by state. */
  jobs: Record<'waiting' | 'active' | 'delayed' | 'failed', number>
  /** Live workers, the sum of their slots, and the slots in use. */
  workers: number
  slots: number
  slotsInUse: number
  /** Events stored per second, recently; null until the second reading. */
  arrivalsPerSecond: number | null
  /** Recommended number of workers, by `suggestWorkers`. */
  suggestedWorkers: number
}

/** Whether workers handle events. */
export type WorkerState = 'available' | 'stalled' | 'missing'

/** Live workers start waiting events at once. Events wait longer than this only while all slots are in use. */
const stalledSeconds = 10

/**
 * Distinguishes live workers that start no events although some wait (`stalled`) from others (`available`) and from
 * none (`missing`).
 */
export function workerStateOf({
  workers,
  slotsInUse,
  oldestWaitingSeconds,
}: Pick<QueueStats, 'workers' | 'slotsInUse' | 'oldestWaitingSeconds'>): WorkerState {
  if (workers === 0) return 'missing'
  return slotsInUse === 0 && oldestWaitingSeconds > stalledSeconds ? 'stalled' : 'available'
}

/**
 * Minimum age at which the statistics are read again. Counting reads all waiting events, so it may take only this share
 * of the time.
 */
const minAgeMilliseconds = 3000
const partOfTime = 1 / 20
/** Approximate time over which the rate of arrivals is measured. */
const rateMilliseconds = 60_000
/** A worker whose heartbeat is older than this counts as dead. */
export const aliveMilliseconds = 30_000

const targetSeconds = 5
const targetUse = 0.7
const maxGrowth = 2

type Sample = Pick<Backlog, 'stored' | 'now'>

interface Memory {
  state: Promise<QueueStats>
  until: number
  samples: Sample[]
}

const memories = new WeakMap<object, Memory>()

/**
 * Reads the statistics of the queue, or returns recent ones.
 *
 * @throws Error when the database or the queue is unavailable
 */
export function readQueueStats(context: Context): Promise<QueueStats> {
  const { metrics } = context
  const known = memories.get(metrics)
  if (known && performance.now() < known.until) return known.state
  const memory: Memory = { state: look(context, known?.samples ?? []), until: Infinity, samples: known?.samples ?? [] }
  memories.set(metrics, memory)
  const begin = performance.now()
  const settled = () => {
    const end = performance.now()
    memory.until = end + Math.max(minAgeMilliseconds, (end - begin) / partOfTime)
  }
  memory.state.then(settled, () => (memory.until = 0))
  return memory.state
}

async function look({ db, queue, dependencies }: Context, samples: Sample[]): Promise<QueueStats> {
  const [backlog, workers, jobs] = await dependencies.database.failFast(() =>
    Promise.all([readBacklog(db), liveWorkers(db, aliveMilliseconds), queue.counts()]),
  )
  const { waiting, oldestSeconds: oldestWaitingSeconds } = backlog
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0)
  const slotsInUse = workers.reduce((sum, worker) => sum + worker.in_use, 0)
  const state = { waiting, oldestWaitingSeconds, jobs, workers: workers.length, slots, slotsInUse }
  return { ...state, arrivalsPerSecond: rate(samples, backlog), suggestedWorkers: suggestWorkers(state) }
}

/** Adds a sample, and computes the rate since the oldest sample that still counts. */
function rate(samples: Sample[], { stored, now }: Sample): number | null {
  while (samples[1] !== undefined && samples[1].now <= now - rateMilliseconds) samples.shift()
  const [first] = samples
  samples.push({ stored, now })
  if (first === undefined || now <= first.now) return null
  // PostgreSQL's statistics may have been reset, which makes the difference negative.
  return Math.max(0, Math.round(((stored - first.stored) / ((now - first.now) / 1000)) * 100) / 100)
}

/**
 * Recommended number of workers. When events wait longer than the target, the number grows in proportion, to at most
 * twice the present one; otherwise it keeps seven tenths of the slots in use. Never zero, since workers also run
 * scheduled work.
 */
export function suggestWorkers({
  workers,
  slots,
  slotsInUse,
  oldestWaitingSeconds,
}: Pick<QueueStats, 'workers' | 'slots' | 'slotsInUse' | 'oldestWaitingSeconds'>): number {
  if (workers === 0) return 1
  const late = oldestWaitingSeconds / targetSeconds
  if (late > 1) return Math.ceil(workers * Math.min(late, maxGrowth))
  const use = slots === 0 ? 0 : slotsInUse / slots
  return Math.max(1, Math.min(workers * maxGrowth, Math.ceil((workers * use) / targetUse)))
}
