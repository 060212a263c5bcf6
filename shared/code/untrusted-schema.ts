import { ApiError } from '../errors.ts'
import { BudgetExceededError } from './json-schema/budget.ts'
import { Evaluation } from './json-schema/evaluation.ts'
import { keywords } from './json-schema/keywords.ts'
import { compilePattern, PatternError, type Allowance, type PatternProgram } from './json-schema/pattern-program.ts'
import { References, SchemaFormError } from './json-schema/references.ts'

/** Maximum number of instructions in the patterns of one schema, or of one upload. */
const maxInstructions = 50_000

/** Compiles each pattern once, and a bounded number of them. */
export class Patterns implements Allowance {
  private readonly programs = new Map<string, PatternProgram | PatternError>()
  private instructions = 0

  spend(instructions: number): void {
    this.instructions += instructions
    if (this.instructions <= maxInstructions) return
    throw new PatternError(`makes the patterns longer than ${maxInstructions} steps: reduce their repetition`)
  }

  /** @returns the compiled pattern, or the reason why it cannot be run */
  compile(source: string): PatternProgram | PatternError {
    const known = this.programs.get(source)
    if (known) return known
    const made = this.attempt(source)
    this.programs.set(source, made)
    return made
  }

  private attempt(source: string): PatternProgram | PatternError {
    try {
      return compilePattern(source, this)
    } catch (error) {
      if (error instanceof PatternError) return error
      throw error
    }
  }
}

/** The result of a validation: the data with its defaults, or a problem. */
export type Validated<Data> = { completed: Data } | { problem: string }

/**
 * A JSON Schema from a developer. It is interpreted step by step, so that neither the schema nor the data can block the
 * process (`docs/decisions/0036`). Schemas that `acceptSchema` refuses may still be stored from earlier versions: their
 * runnable parts are applied, and the others accept any data.
 */
export class UntrustedSchema {
  readonly references: References
  private readonly root: Record<string, unknown>
  private readonly patterns = new Patterns()

  /** @throws ApiError `InvalidJsonSchema`, with the position, when it is not a JSON Schema */
  constructor(schema: Record<string, unknown>, name: string) {
    this.root = schema
    try {
      this.references = new References(schema)
    } catch (error) {
      throw error instanceof SchemaFormError ? invalidSchema(name, error.path, error.message) : error
    }
  }

  /** Validates data without modifying it. */
  validate<Data extends object>(data: Data): Validated<Data> {
    return this.#evaluate(data, false)
  }

  /**
   * Validates data whose objects may have fields that the schema excludes, and keeps them: the converters of the SDK exclude
   * further fields of each object whose author did not allow them, while the author's own schema ignores them.
   */
  validateOpen<Data extends object>(data: Data): Validated<Data> {
    // A choice between closed objects depends on the fields that each excludes.
    const closed = this.#evaluate(data, false)
    return 'completed' in closed ? closed : this.#evaluate(data, true)
  }

  #evaluate<Data extends object>(data: Data, allowsUndeclared: boolean): Validated<Data> {
    const evaluation = new Evaluation({
      allowsUndeclared,
      root: this.root,
      keywords,
      resolve: (schema) => this.references.resolve(schema),
      pattern: (source) => {
        const program = this.patterns.compile(source)
        return program instanceof PatternError ? undefined : program
      },
    })
    const completed = structuredClone(data)
    try {
      return evaluation.run(completed) ? { completed } : { problem: evaluation.describe() }
    } catch (error) {
      // A reference to a value that is not a schema: stored before references were checked.
      if (error instanceof SchemaFormError) return { problem: `${pointer(error.path)} of its schema ${error.message}` }
      if (!(error instanceof BudgetExceededError)) throw error
      return { problem: `validation was aborted because ${error.message}: simplify the schema or the data` }
    }
  }
}

/** @param path to the position in the schema */
export function invalidSchema(name: string, path: string[], problem: string): ApiError {
  return new ApiError('InvalidJsonSchema', `${name}: ${pointer(path)} ${problem}`)
}

/** A JSON pointer; of a long one, the start. */
export function pointer(path: string[]): string {
  const parts = path.slice(0, 20).map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  const text = `#${parts.join('')}${path.length > 20 ? '/…' : ''}`
  return text.length > 500 ? `${text.slice(0, 500)}…` : text
}
