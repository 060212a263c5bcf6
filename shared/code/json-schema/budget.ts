/**
 * Maximum number of steps of one validation. A step takes 10 to 50 ns, so a validation ends within some tens of
 * milliseconds for any schema and data, and always at the same step.
 */
const maxSteps = 500_000

/** Maximum depth of a validation: levels of the data, and of the schema at each level. */
const maxDepth = 500

/** An aborted validation: the data is neither valid nor invalid. */
export class BudgetExceededError extends Error {
  override name = 'BudgetExceededError'
}

/** Bounds the work of one validation. */
export class Budget {
  private remaining = maxSteps
  private depth = 0

  /** @throws BudgetExceededError when no steps are left */
  spend(steps: number): void {
    this.remaining -= steps
    if (this.remaining < 0) throw new BudgetExceededError(`it takes more than ${maxSteps} steps`)
  }

  /** @throws BudgetExceededError when the validation is too deep */
  enter(): void {
    this.depth += 1
    if (this.depth > maxDepth) throw new BudgetExceededError(`it goes more than ${maxDepth} levels deep`)
    this.spend(1)
  }

  leave(): void {
    this.depth -= 1
  }
}
