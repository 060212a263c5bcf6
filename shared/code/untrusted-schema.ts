import { ApiError } from '../errors.ts'
import { BudgetExceededError } from './json-schema/budget.ts'
import { Evaluation } from './json-schema/evaluation.ts'
import { keywords } from './json-schema/keywords.ts'
import { compilePattern, PatternError, type Allowance, type PatternProgram } from './json-schema/pattern-program.ts'
import { References, SchemaFormError } from './json-schema/references.ts'

/** Instructions that the patterns of one schema, or of all that are uploaded at once, may come to. */
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

  /** @returns why it cannot be run, where that is so */
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

/** What came of a validation: the data with its defaults, or what is wrong with it. */
export type Validated<Data> = { completed: Data } | { problem: string }

/**
 * A JSON Schema that a developer sent. It is interpreted, step by step, so that neither it nor the data can hold the
 * process (`docs/decisions/0036`). What `acceptSchema` refuses may still be stored from before: such a schema goes on as
 * far as it can be run, and says nothing where it cannot.
 */
export class UntrustedSchema {
  readonly references: References
  private readonly root: Record<string, unknown>
  private readonly patterns = new Patterns()

  /** @throws ApiError `InvalidJsonSchema`, naming the place, for what is no JSON Schema */
  constructor(schema: Record<string, unknown>, name: string) {
    this.root = schema
    try {
      this.references = new References(schema)
    } catch (error) {
      throw error instanceof SchemaFormError ? invalidSchema(name, error.path, error.message) : error
    }
  }

  /** Validates data, which stays as it is. */
  validate<Data extends object>(data: Data): Validated<Data> {
    const evaluation = new Evaluation({
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
      // A reference that leads to what is no schema was stored before schemas were checked as they are now.
      if (error instanceof SchemaFormError) return { problem: `${pointer(error.path)} of its schema ${error.message}` }
      if (!(error instanceof BudgetExceededError)) throw error
      return { problem: `validation was aborted because ${error.message}: simplify the schema or the data` }
    }
  }
}

/** @param path to the place in the schema */
export function invalidSchema(name: string, path: string[], problem: string): ApiError {
  return new ApiError('InvalidJsonSchema', `${name}: ${pointer(path)} ${problem}`)
}

/** A JSON pointer; of a long one, the start. */
export function pointer(path: string[]): string {
  const parts = path.slice(0, 20).map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  const text = `#${parts.join('')}${path.length > 20 ? '/…' : ''}`
  return text.length > 500 ? `${text.slice(0, 500)}…` : text
}
