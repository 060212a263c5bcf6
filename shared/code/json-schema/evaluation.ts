import { Budget } from './budget.ts'
import type { PatternProgram } from './pattern-program.ts'
import { isObject } from './is-object.ts'
import type { Schema, SchemaObject } from './references.ts'

/** @param value of the keyword, whose form has been checked */
export type Keyword<Value> = (evaluation: Evaluation, value: Value, data: unknown, schema: SchemaObject) => boolean

/** A schema, with the keywords that are supported. */
export interface Evaluated {
  root: Schema
  keywords: ReadonlyMap<string, Keyword<unknown>>
  /** Resolves the `$ref` of a schema; undefined when it has no target. */
  resolve(schema: SchemaObject): Schema | undefined
  /** Compiles a pattern; undefined when it cannot be run. */
  pattern(source: string, budget: Budget): PatternProgram | undefined
  /** Whether objects may have fields that their schema excludes. */
  allowsUndeclared: boolean
}

/** A problem, and its position in the data. */
interface Problem {
  path: (string | number)[]
  words: string | (() => string)
}

const maxProblems = 5

/** One validation of data by a JSON Schema (draft 7); unknown keywords and formats are ignored. */
export class Evaluation {
  readonly budget = new Budget()
  /** The problem of the last failure; of alternatives, those of the first few. */
  problems: Problem[] = []
  private readonly evaluated: Evaluated
  /** The present position in the data. */
  private readonly path: (string | number)[] = []
  /** Whether missing parts receive their defaults: not in trials. */
  private fillsDefaults = true

  constructor(evaluated: Evaluated) {
    this.evaluated = evaluated
  }

  /**
   * Validates the data, and fills in the defaults of missing parts.
   * @throws BudgetExceededError
   */
  run(data: unknown): boolean {
    return this.holds(this.evaluated.root, data)
  }

  holds(schema: Schema, data: unknown): boolean {
    if (typeof schema === 'boolean') return schema || this.fail('must not be present')
    // OpenAPI 3.0, and published tools that target it, declare null in this way.
    if (data === null && schema['nullable'] === true) return true
    this.budget.enter()
    const isValid = this.holdsType(schema, data) && this.holdsKeywords(schema, data)
    this.budget.leave()
    return isValid
  }

  /** Validates a part of the data. */
  partHolds(schema: Schema, key: string | number, data: unknown): boolean {
    this.path.push(key)
    const isValid = this.holds(schema, data)
    this.path.pop()
    return isValid
  }

  /**
   * Validates by a schema that is only tried (`anyOf`, `contains`, `if`, `not`, `oneOf`), without filling in defaults.
   */
  trialHolds(schema: Schema, data: unknown): boolean {
    const { fillsDefaults } = this
    this.fillsDefaults = false
    const isValid = this.holds(schema, data)
    this.fillsDefaults = fillsDefaults
    return isValid
  }

  /** A reference without a target accepts any data. */
  referenceHolds(schema: SchemaObject, data: unknown): boolean {
    const target = this.evaluated.resolve(schema)
    return target === undefined || this.holds(target, data)
  }

  get allowsUndeclared(): boolean {
    return this.evaluated.allowsUndeclared
  }

  pattern(source: string): PatternProgram | undefined {
    return this.evaluated.pattern(source, this.budget)
  }

  /** @returns false, the result of a keyword that does not hold */
  fail(words: string | (() => string)): false {
    this.budget.spend(2)
    this.problems = [{ path: this.path.slice(0, 20), words }]
    return false
  }

  /**
   * Counts the alternatives that hold; `problems` are those of the others.
   * @param enough number of holding alternatives at which the count stops
   */
  countHolding(alternatives: Schema[], data: unknown, enough: number): number {
    const problems: Problem[] = []
    let count = 0
    for (const alternative of alternatives) {
      if (this.trialHolds(alternative, data)) count += 1
      else if (problems.length < maxProblems) problems.push(...this.problems)
      if (count >= enough) break
    }
    this.problems = problems.slice(0, maxProblems)
    return count
  }

  /** Describes the problems, with positions as an author writes them: `payload.items.0 must be string`. */
  describe(): string {
    const descriptions = this.problems.map(({ path, words }) => {
      return `${shorten(path.join('.'))} ${shorten(typeof words === 'string' ? words : words())}`.trim()
    })
    return [...new Set(descriptions)].join(', or ')
  }

  private holdsKeywords(schema: SchemaObject, data: unknown): boolean {
    if (this.fillsDefaults) fillDefaults(this.budget, schema, data)
    for (const name in schema) {
      this.budget.spend(1)
      const keyword = this.evaluated.keywords.get(name)
      if (keyword && !keyword(this, schema[name], data, schema)) return false
    }
    return true
  }

  private holdsType({ type }: SchemaObject, data: unknown): boolean {
    if (type === undefined) return true
    if (!Array.isArray(type)) return isOfType(type, data) || this.fail(`must be ${type as string}`)
    this.budget.spend(type.length)
    return type.some((name) => isOfType(name, data)) || this.fail(() => `must be ${type.join(' or ')}`)
  }
}

function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)} …` : text
}

function isOfType(type: unknown, data: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(data)
    case 'array':
      return Array.isArray(data)
    case 'integer':
      return Number.isInteger(data)
    case 'null':
      return data === null
    default:
      return typeof data === type
  }
}

/** Fills in the missing parts of objects and lists that have a default. */
function fillDefaults(budget: Budget, { properties, items }: SchemaObject, data: unknown): void {
  if (isObject(properties) && isObject(data)) {
    for (const name in properties) {
      budget.spend(1)
      const part = properties[name]
      if (!isObject(part) || part['default'] === undefined || Object.hasOwn(data, name)) continue
      // Not an assignment: the name may be `__proto__`.
      const value = copy(part['default'], budget)
      Object.defineProperty(data, name, { value, enumerable: true, configurable: true, writable: true })
    }
  } else if (Array.isArray(items) && Array.isArray(data)) {
    for (const part of (items as Schema[]).slice(data.length)) {
      if (!isObject(part) || part['default'] === undefined) return
      data.push(copy(part['default'], budget))
    }
  }
}

/** Copies a default. It costs more than reading it, since each copy is stored. */
function copy(value: unknown, budget: Budget): unknown {
  const text = JSON.stringify(value)
  budget.spend(text.length)
  return JSON.parse(text)
}
