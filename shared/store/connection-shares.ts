import type { Knex } from 'knex'
import type { ClientBase } from 'pg'
import { TooManyWaitingError } from '../errors.ts'
import { asTenant, tenantScope, type TenantScope } from '../tenant-scope.ts'
import { TenantSlots, type GiveBack } from '../tenant-slots.ts'
import type { ShareMetrics } from '../telemetry/metrics.ts'

/**
 * The connections of a process are few, and lent in order of arrival: the statements of one bot, if they are many or take
 * long, would delay those of all others. So a tenant has at most all connections but one, and work that may take long has
 * slots of its own (docs/decisions/0136). Statements of the platform itself, and those for several tenants together, are
 * not bounded.
 */

/**
 * Requests that wait for connections, of one tenant in a process: a quarter of the requests that an api has in flight. Calls of code
 * are bounded by the limits of their runs, and a request that has begun waits on: a refusal means that nothing was done.
 */
const maxWaitingForConnection = 250
/** Requests that wait for slots of work that may take long, of one tenant and of all. */
const [maxWaitingForSlot, maxWaitingForSlots] = [50, 200]

/** Why a request waits, and how long it may. */
interface Wait {
  /** The label `for` of the wait in the metrics. */
  label: 'connection' | 'slow_work'
  reason: string
  milliseconds: number
}

/** As long as a request waits for a connection of the pool. */
const forConnection: Wait = {
  label: 'connection',
  reason: 'Earlier requests of the bot use its share of the connections to the database',
  milliseconds: 5000,
}
/** Twice the limit of one query. */
const forSlowWork: Wait = {
  label: 'slow_work',
  reason: 'Requests that may take long are carried out one at a time for each bot',
  milliseconds: 10_000,
}

/**
 * The longest wait of work that is not refused for the number of those that wait. Work that waits for a second connection
 * while it holds one would otherwise keep that for ever.
 */
const longestMilliseconds = 300_000

/** The part of knex's client that lends connections of the pool. */
interface Lender {
  acquireConnection(): Promise<ClientBase>
  releaseConnection(connection: ClientBase): Promise<void>
}

/** Slots, and the metrics of waits for them. */
interface Shares {
  slots: TenantSlots
  metrics: ShareMetrics | undefined
}

/** The slots of work that may take long, by pool. */
const slowShares = new WeakMap<Knex, Shares>()

/** Has a pool lend a tenant at most all of its connections but one. */
export function shareConnections(db: Knex, poolSize: number, metrics?: ShareMetrics): void {
  const max = Math.max(1, poolSize - 1)
  const connections = new TenantSlots({ max: Infinity, maxOfTenant: max, maxWaitingOfTenant: maxWaitingForConnection })
  const slots = { max, maxOfTenant: 1, maxWaitingOfTenant: maxWaitingForSlot, maxWaiting: maxWaitingForSlots }
  slowShares.set(db, { slots: new TenantSlots(slots), metrics })
  const shares = { slots: connections, metrics }
  const lender = db.client as Lender
  const acquire = lender.acquireConnection.bind(lender)
  const release = lender.releaseConnection.bind(lender)
  const lent = new WeakMap<ClientBase, GiveBack>()

  async function lend(scope: TenantScope): Promise<ClientBase> {
    const giveBack =
      connections.takeFree(scope.tenant) ??
      (await turn(shares, scope, { ...forConnection, isUnbounded: scope.isOfCode || scope.hasBegun === true }))
    try {
      const connection = await acquire()
      lent.set(connection, giveBack)
      scope.hasBegun = true
      return connection
    } catch (error) {
      giveBack()
      throw error
    }
  }

  lender.acquireConnection = () => {
    const scope = tenantScope()
    return scope ? lend(scope) : acquire()
  }
  lender.releaseConnection = (connection) => {
    const released = release(connection)
    lent.get(connection)?.()
    lent.delete(connection)
    return released
  }
}

/**
 * Does work whose statements may take long by their nature, such as searches: one at a time for each tenant, and all but one
 * connection together. Work in a transaction does not wait, since it would hold its connection meanwhile: the slot is to be
 * taken before it begins.
 *
 * @param gone makes a signal that ends the wait, for reads whose caller may leave
 * @throws TooManyWaitingError when too much work waits, or has waited too long
 */
export async function slowly<Result>(db: Knex, work: () => Promise<Result>, gone?: () => AbortSignal): Promise<Result> {
  const scope = tenantScope()
  const shares = slowShares.get(db)
  if (!scope || !shares || scope.isSlow) return work()
  const giveBack =
    shares.slots.takeFree(scope.tenant) ??
    (await turn(shares, scope, { ...forSlowWork, isUnbounded: scope.isOfCode, gone }))
  try {
    return await asTenant({ ...scope, isSlow: true }, work)
  } finally {
    giveBack()
  }
}

async function turn(
  { slots, metrics }: Shares,
  { tenant }: TenantScope,
  {
    label,
    reason,
    milliseconds,
    isUnbounded,
    gone,
  }: Wait & { isUnbounded: boolean; gone?: (() => AbortSignal) | undefined },
): Promise<GiveBack> {
  const longest = isUnbounded ? longestMilliseconds : milliseconds
  const tooLong = new AbortController()
  const timer = setTimeout(() => tooLong.abort(), longest)
  const signal = gone ? AbortSignal.any([tooLong.signal, gone()]) : tooLong.signal
  metrics?.tenantWaits.inc({ for: label })
  try {
    return await slots.take(tenant, { isUnbounded, signal })
  } catch (cause) {
    const isTooMany = cause instanceof TooManyWaitingError
    if (isTooMany || tooLong.signal.aborted)
      metrics?.tenantRefusals.inc({ for: label, reason: isTooMany ? 'too_many' : 'too_long' })
    const waited = isTooMany ? 'too many wait already' : `this one has waited for ${longest / 1000} s`
    throw new TooManyWaitingError(`${reason}, and ${waited}: try again in a moment, or send fewer at once`, { cause })
  } finally {
    clearTimeout(timer)
    metrics?.tenantWaits.dec({ for: label })
  }
}
