import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'

export type ModelUsage = AnswerOf<'getModelUsage'>
export type Period = 'days' | 'months'

const dayMilliseconds = 24 * 3600 * 1000

/** The days that a page asks for: the last 30, or those of the last 12 months. */
export function rangeOf(period: Period, now = new Date()): { from: string; to: string } {
  const from =
    period === 'days'
      ? new Date(now.getTime() - 29 * dayMilliseconds)
      : new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11, 1))
  return { from: dayOf(from), to: dayOf(now) }
}

/** The sums of a day or a month. */
export interface Sums {
  /** The first day, in UTC. */
  start: string
  calls: number
  input: number
  output: number
  cost: number
}

/** The usage by day or month, the oldest first, with those without any. */
export function byPeriod({ usage }: ModelUsage, period: Period, { from, to }: { from: string; to: string }): Sums[] {
  const sums = new Map(startsOf(period, from, to).map((start) => [start, none(start)]))
  for (const { day, calls, inputTokens, outputTokens, cost } of usage) {
    const sum = sums.get(period === 'days' ? day : `${day.slice(0, 7)}-01`)
    if (!sum) continue
    sum.calls += calls
    sum.input += inputTokens
    sum.output += outputTokens
    sum.cost += cost
  }
  return [...sums.values()]
}

/** Groups rows by a text, and sums them up; the largest cost first, then the most tokens. */
export function sumBy(
  { usage }: ModelUsage,
  keyOf: (row: ModelUsage['usage'][number]) => string,
): (Sums & { key: string })[] {
  const sums = new Map<string, Sums & { key: string }>()
  for (const row of usage) {
    const key = keyOf(row)
    const sum = sums.get(key) ?? { key, ...none('') }
    sum.calls += row.calls
    sum.input += row.inputTokens
    sum.output += row.outputTokens
    sum.cost += row.cost
    sums.set(key, sum)
  }
  return [...sums.values()].toSorted((a, b) => b.cost - a.cost || b.input + b.output - a.input - a.output)
}

/** The failures by model and cause, the most frequent first. */
export function causesOf({ failures }: ModelUsage): { key: string; model: string; cause: string; count: number }[] {
  const causes = new Map<string, { key: string; model: string; cause: string; count: number }>()
  for (const { model, kind, status, failures: count } of failures) {
    const cause = status === undefined ? kind : `${kind} (${status})`
    const key = `${model} ${cause}`
    causes.set(key, { key, model, cause, count: (causes.get(key)?.count ?? 0) + count })
  }
  return [...causes.values()].toSorted((a, b) => b.count - a.count)
}

function startsOf(period: Period, from: string, to: string): string[] {
  const starts: string[] = []
  const next = new Date(from)
  while (dayOf(next) <= to) {
    starts.push(dayOf(next))
    if (period === 'days') next.setUTCDate(next.getUTCDate() + 1)
    else next.setUTCMonth(next.getUTCMonth() + 1)
  }
  return starts
}

function none(start: string): Sums {
  return { start, calls: 0, input: 0, output: 0, cost: 0 }
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}
