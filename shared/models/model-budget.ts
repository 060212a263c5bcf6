import { closedObject, type Infer } from '../schema.ts'

const tokens = (period: string) =>
  ({
    type: 'integer',
    minimum: 0,
    maximum: 1e15,
    description: `Tokens of a ${period}, of questions and answers.`,
  }) as const
const dollars = (period: string) =>
  ({ type: 'number', minimum: 0, maximum: 1e9, description: `Estimated cost of a ${period}, in US dollars.` }) as const

/** Upper bounds of the usage of language models, by the day and the month in UTC. */
export const modelBudget = closedObject(
  {},
  {
    dayTokens: tokens('day'),
    monthTokens: tokens('month'),
    dayDollars: dollars('day'),
    monthDollars: dollars('month'),
  },
)

export type ModelBudget = Infer<typeof modelBudget>

export const budgetPeriods = ['day', 'month'] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

/** The first day of a period in UTC, as `2026-11-01`. */
export function startOf(period: BudgetPeriod, time: Date): string {
  const day = time.toISOString().slice(0, 10)
  return period === 'day' ? day : `${day.slice(0, 7)}-01`
}

const spent = closedObject({
  tokens: { type: 'integer', description: 'With the reservations of calls in flight.' },
  cost: { type: 'number', description: 'An estimate in US dollars.' },
})

/** A budget, and what is spent of it. */
export const modelBudgetState = closedObject({
  budget: { ...modelBudget, description: 'Without a field, there is no such bound.' },
  spent: closedObject({ day: spent, month: spent }),
})
