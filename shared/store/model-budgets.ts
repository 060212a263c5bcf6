import { randomUUID } from 'node:crypto'
import type { FailureKind } from '../models/language-model.ts'
import { budgetPeriods, startOf, type BudgetPeriod, type ModelBudget } from '../models/model-budget.ts'
import { withoutWaiting } from './complete-events.ts'
import { query, type Database } from './database.ts'

/** A bot, or a workspace with all its bots. */
export type BudgetOwner = { botId: string } | { workspaceId: string }

/** The amount that a call takes out of budgets before it is made. */
export interface Reservation {
  id: string
  botId: string
  /** The bot and its workspace. */
  owners: string[]
  starts: Record<BudgetPeriod, string>
}

/** The budget that is used up, and the unit of it. */
type Exceeded = Pick<BudgetExceededError, 'owner' | 'period' | 'unit' | 'spent' | 'limit'>

/** A budget is used up. */
export class BudgetExceededError extends Error {
  override name = 'BudgetExceededError'
  readonly owner: 'bot' | 'workspace'
  readonly period: BudgetPeriod
  readonly unit: 'tokens' | 'dollars'
  readonly spent: number
  readonly limit: number

  constructor(exceeded: Exceeded) {
    super(`The budget of the ${exceeded.owner} is used up`)
    this.owner = exceeded.owner
    this.period = exceeded.period
    this.unit = exceeded.unit
    this.spent = exceeded.spent
    this.limit = exceeded.limit
  }
}

/** Time beyond that of a call, in which its usage is settled: a process may wait for the database meanwhile. */
export const settlingMilliseconds = 10 * 60_000

/**
 * Reserves the estimated usage of a call. The rows of a bot and its workspace are locked in one order until the end of the
 * statement, so calls that are made at the same time see each other's reservations, and exceed a budget by one reservation at
 * most. It is one statement and does not wait for the disk: the provider is asked after it.
 *
 * @param estimate tokens, and their cost in US dollars
 * @param options `operatorBudget`: the operator's bounds of each workspace; `milliseconds`: the longest time until the call is
 *   settled
 * @throws BudgetExceededError when a budget is used up; then nothing is reserved
 */
export async function reserveUsage(
  db: Database,
  botId: string,
  { tokens, cost }: { tokens: number; cost: number },
  { operatorBudget, milliseconds }: { operatorBudget: ModelBudget; milliseconds: number },
): Promise<Reservation> {
  const id = randomUUID()
  const now = new Date()
  const starts = { day: startOf('day', now), month: startOf('month', now) }
  const [row] = await query<{ owners: string[] | null; exceeded: Exceeded | null }>(
    db,
    `select owners, exceeded from reserve_model_usage(:id, :botId, :day, :month, :tokens, :cost,
       now() + :milliseconds::double precision * interval '1 millisecond', :operatorBudget)`,
    { id, botId, tokens, cost, milliseconds, operatorBudget: JSON.stringify(operatorBudget), ...starts },
  )
  const { owners, exceeded } = row!
  if (exceeded) throw new BudgetExceededError(exceeded)
  return { id, botId, owners: owners ?? [], starts }
}

/** The usage of a call, for the records. */
export interface CallUsage {
  /** `provider:model`. */
  model: string
  calls: number
  inputTokens: number
  outputTokens: number
  cost: number
}

/** Failures of a model with one cause. */
export interface CallFailures {
  model: string
  kind: FailureKind
  /** 0 when the provider gave no answer. */
  status: number
  failures: number
}

/**
 * Replaces a reservation by the usage of its call, and adds that to the usage of the day. A reservation that has been released
 * is replaced by nothing less: the usage is added.
 *
 * @param outcome `usages` of each model that answered or may be billed; none: the call is not billed
 */
export async function settleUsage(
  db: Database,
  reservation: Reservation,
  { usages, failures }: { usages: readonly CallUsage[]; failures: readonly CallFailures[] },
): Promise<void> {
  const { id, botId, owners, starts } = reservation
  const actualTokens = usages.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0)
  const actualCost = usages.reduce((sum, usage) => sum + usage.cost, 0)
  await query(
    db,
    `with locked as (
       select owner_id, period, start, ${withoutWaiting} from model_spending
       where owner_id = any(:owners::text[]) and ((period = 'day' and start = :day) or (period = 'month' and start = :month))
       order by bot_id nulls last, period for update
     ), reserved as (
       -- After the locks, in the same order everywhere.
       delete from model_reservations where id = :id and (select count(*) from locked) >= 0 returning tokens, cost
     ), settled as (
       update model_spending spending
       set tokens = spending.tokens + :tokens::bigint - coalesce((select tokens from reserved), 0),
         cost = spending.cost + :cost::numeric - coalesce((select cost from reserved), 0)
       from locked where (spending.owner_id, spending.period, spending.start) = (locked.owner_id, locked.period, locked.start)
     ), failed as (
       insert into model_failures as known (bot_id, day, model, kind, status, failures)
       select id, :day::date, failed.model, failed.kind, failed.status, failed.failures
       from bots cross join jsonb_to_recordset(:failures::jsonb)
         as failed (model text, kind text, status integer, failures bigint)
       where id = :botId
       order by model, kind, status
       -- A bot that is being deleted gets none, and the sums of its workspace are settled.
       for key share of bots
       on conflict (bot_id, day, model, kind, status) do update set failures = known.failures + excluded.failures
     )
     insert into model_usage as usage (bot_id, day, model, calls, input_tokens, output_tokens, cost)
     select id, :day::date, used.model, used.calls, used."inputTokens", used."outputTokens", used.cost
     from bots cross join jsonb_to_recordset(:usages::jsonb)
       as used (model text, calls bigint, "inputTokens" bigint, "outputTokens" bigint, cost numeric)
     where id = :botId
     order by model
     for key share of bots
     on conflict (bot_id, day, model) do update set calls = usage.calls + excluded.calls,
       input_tokens = usage.input_tokens + excluded.input_tokens,
       output_tokens = usage.output_tokens + excluded.output_tokens, cost = usage.cost + excluded.cost`,
    {
      id,
      botId,
      owners,
      ...starts,
      tokens: actualTokens,
      cost: actualCost,
      usages: JSON.stringify(usages),
      failures: JSON.stringify(failures),
    },
  )
}

/**
 * Releases reservations whose calls can no longer be in flight: the process that made them was killed, or could not reach the
 * database afterwards.
 *
 * @returns the number of released reservations
 */
export async function releaseLostReservations(db: Database, limit: number): Promise<number> {
  const lost = await query<{ id: string; bot_id: string; owners: string[]; day: string; month: string }>(
    db,
    `select id, bot_id, owners, day::text, month::text from model_reservations
     where expires_at < now() order by expires_at limit :limit`,
    { limit },
  )
  for (const { id, bot_id: botId, owners, day, month } of lost) {
    await settleUsage(db, { id, botId, owners, starts: { day, month } }, { usages: [], failures: [] })
  }
  return lost.length
}

/** A deletion of some rows of old days. */
function deletionOf(table: string, day: string): string {
  const old = `select ctid from ${table} where ${day} < :until::date order by ${day} limit :limit`
  return `delete from ${table} where ctid = any(array(${old})) returning 1`
}

/**
 * Deletes the usage, the failures and the sums of budgets of old days.
 *
 * @returns whether there may be more
 */
export async function deleteOldUsage(db: Database, milliseconds: number, limit: number): Promise<boolean> {
  const until = startOf('day', new Date(Date.now() - milliseconds))
  const [row] = await query<{ most: number }>(
    db,
    `with usage as (${deletionOf('model_usage', 'day')}), failures as (${deletionOf('model_failures', 'day')}),
       spending as (${deletionOf('model_spending', 'start')})
     select greatest((select count(*) from usage), (select count(*) from failures), (select count(*) from spending))::integer as most`,
    { until, limit },
  )
  return (row?.most ?? 0) >= limit
}

/** Sets the budget of a bot or a workspace; an empty one removes it. */
export async function setBudget(db: Database, owner: BudgetOwner, budget: ModelBudget): Promise<void> {
  const ownerId = idOf(owner)
  if (Object.keys(budget).length === 0) {
    await db('model_budgets').where({ owner_id: ownerId }).delete()
    return
  }
  const isBot = 'botId' in owner
  await query(
    db,
    `insert into model_budgets (owner_id, bot_id, workspace_id, limits)
     values (:ownerId, :botId, :workspaceId, :limits)
     on conflict (owner_id) do update set limits = excluded.limits`,
    {
      ownerId,
      botId: isBot ? ownerId : null,
      workspaceId: isBot ? null : ownerId,
      limits: JSON.stringify(budget),
    },
  )
}

/** The budget of a bot or a workspace, and what is spent of it in the present day and month. */
export async function findBudget(db: Database, owner: BudgetOwner) {
  const ownerId = idOf(owner)
  const now = new Date()
  const [rows, found] = await Promise.all([
    query<{ period: BudgetPeriod; tokens: string; cost: string }>(
      db,
      `select period, tokens, cost from model_spending
       where owner_id = :ownerId and ((period = 'day' and start = :day) or (period = 'month' and start = :month))`,
      { ownerId, day: startOf('day', now), month: startOf('month', now) },
    ),
    query<{ limits: ModelBudget }>(db, 'select limits from model_budgets where owner_id = :ownerId', { ownerId }),
  ])
  const spent = budgetPeriods.map((period) => {
    const row = rows.find((each) => each.period === period)
    return [period, { tokens: Number(row?.tokens ?? 0), cost: Number(row?.cost ?? 0) }] as const
  })
  return {
    budget: found[0]?.limits ?? {},
    spent: Object.fromEntries(spent) as Record<BudgetPeriod, { tokens: number; cost: number }>,
  }
}

function idOf(owner: BudgetOwner): string {
  return 'botId' in owner ? owner.botId : owner.workspaceId
}

interface FailureRow {
  bot_id: string
  day: string
  model: string
  kind: FailureKind
  status: number
  failures: string
}

/** The failures of models that a workspace's bots, or one of them, met, by day, bot, model and cause; the newest day first. */
export async function failuresByDay(
  db: Database,
  { workspaceId, botId, from, to }: { workspaceId: string; botId?: string | undefined; from: string; to: string },
) {
  const rows = await query<FailureRow>(
    db,
    `select bot_id, day::text, model, kind, status, failures
     from model_failures join bots on bots.id = bot_id
     where workspace_id = :workspaceId and day between :from::date and :to::date
       ${botId === undefined ? '' : 'and bot_id = :botId'}
     order by day desc, failures desc, bot_id, model, kind, status limit 10000`,
    { workspaceId, botId: botId ?? null, from, to },
  )
  return rows.map(({ bot_id, status, failures, ...row }) => ({
    botId: bot_id,
    ...row,
    ...(status !== 0 && { status }),
    failures: Number(failures),
  }))
}

/** The usage of a workspace's bots, or of one of them, by day, bot and model; the newest day first. */
export async function usageByDay(
  db: Database,
  { workspaceId, botId, from, to }: { workspaceId: string; botId?: string | undefined; from: string; to: string },
) {
  const rows = await query<{
    bot_id: string
    day: string
    model: string
    calls: string
    input_tokens: string
    output_tokens: string
    cost: string
  }>(
    db,
    `select bot_id, day::text, model, calls, input_tokens, output_tokens, model_usage.cost
     from model_usage join bots on bots.id = bot_id
     where workspace_id = :workspaceId and day between :from::date and :to::date
       ${botId === undefined ? '' : 'and bot_id = :botId'}
     order by day desc, model_usage.cost desc, bot_id, model limit 10000`,
    { workspaceId, botId: botId ?? null, from, to },
  )
  return rows.map((row) => ({
    botId: row.bot_id,
    day: row.day,
    model: row.model,
    calls: Number(row.calls),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    cost: Number(row.cost),
  }))
}
