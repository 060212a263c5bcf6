import type { Context } from '../context.ts'
import { readBacklog, type Backlog } from '../store/backlog.ts'
import { liveWorkers } from '../store/workers.ts'

/** How much there is to do, and how many workers it takes. */
export interface QueueStats {
  /** Events that are due and not begun. */
  waiting: number
  /** Age of the oldest event that is due and not started: the latency of the queue. */
  oldestWaitingSeconds: number
  /** Jobs by state. */
  jobs: Record<'waiting' | 'active' | 'delayed' | 'failed', number>
  /** Live workers, with the conversations that they can handle at once, and do. */
  workers: number
  slots: number
  slotsInUse: number
  /** Events stored per second lately; null until it was asked for twice. */
  arrivalsPerSecond: number | null
  /** How many workers there should be, by `suggestWorkers`. */
  suggestedWorkers: number
}

/** Whether workers handle events. */
export type WorkerState = 'available' | 'stalled' | 'missing'

/** Workers that are alive begin what waits at once. Longer than this it waits only where all their slots are in use. */
const stalledSeconds = 10

/** Tells workers that are alive but take nothing, although something waits, from those that do, and from none. */
export function workerStateOf({
  workers,
  slotsInUse,
  oldestWaitingSeconds,
}: Pick<QueueStats, 'workers' | 'slotsInUse' | 'oldestWaitingSeconds'>): WorkerState {
  if (workers === 0) return 'missing'
  return slotsInUse === 0 && oldestWaitingSeconds > stalledSeconds ? 'stalled' : 'available'
}

/** Who asks more often is told the same. Counting reads all events that wait: it may take this part of the time. */
const minAgeMilliseconds = 3000
const partOfTime = 1 / 20
/** The rate of arrivals is that of about so long. */
const rateMilliseconds = 60_000
/** A worker tells of itself more often than this. */
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
 * Looks how much there is to do, or remembers it from moments ago.
 *
 * @throws Error when the database or the queue does not tell
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

/** Takes a sample, and reckons from the oldest that still counts. */
function rate(samples: Sample[], { stored, now }: Sample): number | null {
  while (samples[1] !== undefined && samples[1].now <= now - rateMilliseconds) samples.shift()
  const [first] = samples
  samples.push({ stored, now })
  if (first === undefined || now <= first.now) return null
  // Statistics may have been reset.
  return Math.max(0, Math.round(((stored - first.stored) / ((now - first.now) / 1000)) * 100) / 100)
}

/**
 * How many workers there should be: where events wait longer than they should, more in proportion, at most twice as many
 * at a time; otherwise so many that seven tenths of their slots are in use. Never none, as workers also see to what is
 * due by the clock.
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
