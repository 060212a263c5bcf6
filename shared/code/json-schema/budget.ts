/**
 * Steps that one validation may take. A step takes 10 to 50 ns: a validation ends within some tens of milliseconds,
 * whatever the schema and the data, and always at the same step.
 */
const maxSteps = 500_000

/** How deep a validation may go: levels of the data, and of the schema at each level. */
const maxDepth = 500

/** A validation that was given up: neither valid nor invalid. */
export class BudgetExceededError extends Error {
  override name = 'BudgetExceededError'
}

/** Bounds the work of one validation. */
export class Budget {
  private remaining = maxSteps
  private depth = 0

  /** @throws BudgetExceededError when nothing is left */
  spend(steps: number): void {
    this.remaining -= steps
    if (this.remaining < 0) throw new BudgetExceededError(`it takes more than ${maxSteps} steps`)
  }

  /** @throws BudgetExceededError when it is too deep already */
  enter(): void {
    this.depth += 1
    if (this.depth > maxDepth) throw new BudgetExceededError(`it goes more than ${maxDepth} levels deep`)
    this.spend(1)
  }

  leave(): void {
    this.depth -= 1
  }
}
