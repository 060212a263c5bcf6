import { LRUCache } from 'lru-cache'
import type { Config } from '../config/config.ts'
import { ApiError } from '../errors.ts'
import { findWorkspaceOf } from '../store/bots.ts'
import type { Database } from '../store/database.ts'
import type { ShareMetrics } from '../telemetry/metrics.ts'

/** The owner of requests that wait: a bot, a workspace, or with `id` an integration of the workspace. */
export type Owner = { botId: string } | { workspaceId: string; id?: string }

/** Part of the requests that an api has in flight: those of all kinds of one workspace that may wait. */
const partOfWorkspace = 1 / 2

/** Requests of workspaces that wait in this process, of all kinds and of all their bots. */
const ofWorkspaces = new Map<string, number>()

/** The workspaces of bots. One that moves counts for its former workspace for a while. */
const workspaces = new LRUCache<string, Promise<string | undefined>>({ max: 10_000, ttl: 60_000 })

interface WaitingContext {
  db: Database
  config: { overload: Pick<Config['overload'], 'requests'> }
  /** They count the requests that wait, and those that are refused. */
  metrics: ShareMetrics
}

/**
 * Bounds the requests of one owner that wait for a worker in this process, and those of all kinds of one workspace: each holds a
 * connection meanwhile, and is one of the requests that an api has in flight.
 */
export class WaitingRequests {
  readonly #max: number
  readonly #waiting = new Map<string, number>()

  /** @param max requests of one owner */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Waits for the work of a request.
   *
   * @param whose the requests of the owner, as the error message names them
   * @throws ApiError `RateLimited` when too many wait; or the error of `work`
   */
  async run<Result>(
    context: WaitingContext,
    owner: Owner,
    whose: string,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { db, config, metrics } = context
    using counts = new DisposableStack()
    const ownerId = 'botId' in owner ? owner.botId : (owner.id ?? owner.workspaceId)
    enter(context, counts, { waiting: this.#waiting, ownerId, max: this.#max, whose })
    const workspaceId = 'botId' in owner ? await workspaceOf(db, owner.botId) : owner.workspaceId
    const max = Math.ceil(config.overload.requests * partOfWorkspace)
    enter(context, counts, { waiting: ofWorkspaces, ownerId: workspaceId, max, whose: 'requests of this workspace' })
    metrics.tenantWaits.inc({ for: 'worker' })
    counts.defer(() => metrics.tenantWaits.dec({ for: 'worker' }))
    return await work()
  }
}

interface Bound {
  /** By owner. */
  waiting: Map<string, number>
  ownerId: string
  max: number
  whose: string
}

/** Counts a request until the stack is disposed. @throws ApiError `RateLimited` when as many wait already */
function enter({ metrics }: WaitingContext, counts: DisposableStack, { waiting, ownerId, max, whose }: Bound): void {
  const present = waiting.get(ownerId) ?? 0
  if (present >= max) {
    metrics.tenantRefusals.inc({ for: 'worker', reason: 'too_many' })
    const message = `${max} ${whose} wait for their answers: try again in a moment`
    throw new ApiError('RateLimited', message, { retryAfterSeconds: 1 })
  }
  waiting.set(ownerId, present + 1)
  counts.defer(() => {
    const left = waiting.get(ownerId)! - 1
    if (left === 0) waiting.delete(ownerId)
    else waiting.set(ownerId, left)
  })
}

/** The workspace of a bot; of one that was just deleted, the bot. */
async function workspaceOf(db: Database, botId: string): Promise<string> {
  let found = workspaces.get(botId)
  if (!found) {
    found = findWorkspaceOf(db, botId)
    workspaces.set(botId, found)
    found.catch(() => workspaces.delete(botId))
  }
  return (await found) ?? botId
}
