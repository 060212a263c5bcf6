import type { Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { aliveMilliseconds, readQueueStats, workerStateOf } from '../../monitoring/queue-stats.ts'
import { operation } from '../../rpc/operation.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { failedOfToday, ownNames } from '../../store/queue-state.ts'
import { liveWorkers } from '../../store/workers.ts'
import { firstWorkspaceId } from '../../store/workspaces.ts'
import { backlogSnapshot } from '../../monitoring/backlog-snapshot.ts'

const maxBots = 20

const count = { type: 'integer' } as const
const time = { type: 'string', format: 'date-time' } as const

const worker = closedObject({
  id: { type: 'string' },
  host: { type: 'string' },
  startedAt: time,
  seenAt: { ...time, description: 'The worker’s last heartbeat; it sends one every ten seconds.' },
  slots: { ...count, description: 'The maximum of concurrent jobs.' },
  inUse: count,
})

const platform = {
  ...closedObject({
    backEnd: { enum: ['redis', 'postgres'] },
    jobs: closedObject({ waiting: count, active: count, delayed: count, failed: count }),
    workers: { type: 'array', items: worker },
  }),
  description: 'Jobs and workers of all workspaces; only for owners of the platform’s first workspace.',
} as const

const busyBot = closedObject({
  botId: { type: 'string' },
  name: { type: 'string' },
  waiting: count,
  oldestWaitingAt: time,
})

const queue = closedObject(
  {
    waiting: { ...count, description: 'Events that are due and not yet handled.' },
    scheduled: { ...count, description: 'Events for a later time.' },
    retrying: { ...count, description: 'Events that failed and wait for a retry.' },
    failed: {
      ...count,
      description: 'Events that failed finally within the last 24 hours, at most 10,000 of each bot.',
    },
    bots: { type: 'array', items: busyBot, description: 'The bots with the most waiting events, at most 20.' },
    workerState: {
      enum: ['available', 'stalled', 'missing'],
      description:
        'Whether workers handle events: `missing` when no worker is alive, `stalled` when the live workers take no events ' +
        'although some have waited for more than 10 s.',
    },
  },
  { oldestWaitingAt: { ...time, description: 'The time since which the oldest waiting event is due.' }, platform },
)

export const getQueue = operation({
  name: 'getQueue',
  description:
    'Returns the waiting events of the workspace’s bots; for the platform’s operators also its jobs and workers.',
  method: 'GET',
  path: '/v1/admin/queue',
  access: 'viewer',
  stability: 'experimental',
  input: closedObject({}),
  output: closedObject({ queue }),

  async handle(context) {
    const { db, caller } = context
    const [failed, waiting, ofPlatform, state] = await Promise.all([
      failedOfToday(db, caller.workspaceId),
      waitingOfWorkspace(context),
      describePlatform(context),
      readQueueStats(context),
    ])
    const due = waiting.flatMap(({ oldest_at: oldest, ...row }) => (oldest ? [{ ...row, oldest }] : []))
    const oldest = Math.min(...due.map((row) => row.oldest.getTime()))
    return {
      queue: {
        waiting: sum(waiting.map((row) => row.waiting)),
        ...(due.length > 0 && { oldestWaitingAt: new Date(oldest).toISOString() }),
        scheduled: sum(waiting.map((row) => row.scheduled)),
        retrying: sum(waiting.map((row) => row.retrying)),
        failed,
        workerState: workerStateOf(state),
        bots: due
          .toSorted((a, b) => b.waiting - a.waiting)
          .slice(0, maxBots)
          .map((row) => ({
            botId: row.bot_id,
            name: row.name,
            waiting: row.waiting,
            oldestWaitingAt: row.oldest.toISOString(),
          })),
        ...(ofPlatform && { platform: ofPlatform }),
      },
    }
  },
})

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

async function waitingOfWorkspace({ db, caller }: Context & { caller: Administrator }) {
  const waiting = Array.from((await backlogSnapshot(db)).values())
  const botIds = waiting.map(({ bot_id: botId }) => botId)
  const names = await ownNames(db, caller.workspaceId, botIds)
  return waiting.flatMap((row) => {
    const name = names.get(row.bot_id)
    return name === undefined ? [] : [{ ...row, name }]
  })
}

/** The load of the platform reveals the activity of other tenants: only owners of its first workspace receive it. */
async function describePlatform(
  context: Context & { caller: Administrator },
): Promise<Infer<typeof platform> | undefined> {
  const { db, caller, queue: jobs, config } = context
  if (caller.role !== 'owner' || caller.workspaceId !== (await firstWorkspaceId(db))) return undefined
  const [counts, workers] = await Promise.all([jobs.counts(), liveWorkers(db, aliveMilliseconds)])
  return {
    backEnd: config.redis ? 'redis' : 'postgres',
    jobs: counts,
    workers: workers.map((row) => ({
      id: row.id,
      host: row.host,
      startedAt: row.started_at.toISOString(),
      seenAt: row.seen_at.toISOString(),
      slots: row.slots,
      inUse: row.in_use,
    })),
  }
}
