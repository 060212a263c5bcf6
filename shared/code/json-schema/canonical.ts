import type { Budget } from './budget.ts'
import { isObject } from './is-object.ts'

/**
 * A text that is the same for equal JSON values: the order of properties makes no difference.
 * @throws BudgetExceededError
 */
export function canonical(value: unknown, budget: Budget): string {
  if (typeof value === 'string') budget.spend(value.length >>> 3)
  if (typeof value !== 'object' || value === null) {
    budget.spend(1)
    return JSON.stringify(value)
  }
  budget.enter()
  const text = isObject(value)
    ? `{${Object.keys(value)
        .toSorted()
        .map((name) => `${JSON.stringify(name)}:${canonical(value[name], budget)}`)
        .join()}}`
    : `[${(value as unknown[]).map((item) => canonical(item, budget)).join()}]`
  budget.leave()
  return text
}
