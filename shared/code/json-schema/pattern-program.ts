import { RegExpParser, type AST } from '@eslint-community/regexpp'

/** A pattern, compiled for the interpreter in `pattern.ts`: three numbers for each instruction. */
export interface PatternProgram {
  code: Int32Array
  /** Tests of one character, by the index in an instruction. */
  tests: ((codePoint: number) => boolean)[]
  isUnicode: boolean
}

export const instruction = {
  match: 0,
  /** Consumes one character forward when `tests[first]` holds. */
  forward: 1,
  /** Likewise, backward: within a look-behind. */
  backward: 2,
  /** Continues at both operands. */
  split: 3,
  jump: 4,
  start: 5,
  end: 6,
  /** Holds at a word boundary, or with 1 anywhere else. */
  boundary: 7,
  /**
   * Runs the instructions that follow it up to `match`; continues at `first` when they succeed, or with 1 when they
   * fail.
   */
  look: 8,
} as const

/** A pattern that cannot be run. The message continues a sentence that begins with the pattern’s name. */
export class PatternError extends Error {
  override name = 'PatternError'
}

/** The remaining number of instructions, shared by the patterns of one upload or one validation. */
export interface Allowance {
  /** @throws PatternError or another error when none is left */
  spend(instructions: number): void
}

const parser = new RegExpParser({ ecmaVersion: 2024 })

export const maxPatternLength = 1000

/**
 * Compiles a regular expression of JavaScript. Repetitions are unrolled, so that one number holds the state of a run.
 *
 * @throws PatternError when the source is not a regular expression, is too long, or has a back reference
 */
export function compilePattern(source: string, allowance: Allowance): PatternProgram {
  if (source.length > maxPatternLength) throw new PatternError(`is longer than ${maxPatternLength} characters`)
  const { pattern, isUnicode } = parse(source)
  const compiler = new Compiler(isUnicode, allowance)
  compiler.emitAlternatives(pattern.alternatives, false)
  compiler.emit(instruction.match)
  return { code: Int32Array.from(compiler.code), tests: compiler.tests, isUnicode }
}

/** JSON Schema specifies the flag `u`; many patterns are only valid without it. */
function parse(source: string): { pattern: AST.Pattern; isUnicode: boolean } {
  try {
    return { pattern: parser.parsePattern(source, 0, source.length, { unicode: true }), isUnicode: true }
  } catch {
    try {
      return { pattern: parser.parsePattern(source, 0, source.length, { unicode: false }), isUnicode: false }
    } catch (error) {
      throw new PatternError(
        `is not a valid regular expression: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
}

class Compiler {
  readonly code: number[] = []
  readonly tests: ((codePoint: number) => boolean)[] = []
  private readonly isUnicode: boolean
  private readonly allowance: Allowance
  private readonly testsBySource = new Map<string, number>()

  constructor(isUnicode: boolean, allowance: Allowance) {
    this.isUnicode = isUnicode
    this.allowance = allowance
  }

  private get position(): number {
    return this.code.length / 3
  }

  emit(operation: number, first = 0, second = 0): number {
    this.allowance.spend(1)
    return this.code.push(operation, first, second) / 3 - 1
  }

  /** Lets an instruction continue at the next one that is emitted. */
  private land(position: number, operand: 1 | 2): void {
    this.code[position * 3 + operand] = this.position
  }

  emitAlternatives(alternatives: readonly AST.Alternative[], isBackward: boolean): void {
    const jumps: number[] = []
    for (const [index, { elements }] of alternatives.entries()) {
      const isLast = index === alternatives.length - 1
      const split = isLast ? -1 : this.emit(instruction.split, this.position + 1)
      for (const element of isBackward ? elements.toReversed() : elements) this.emitElement(element, isBackward)
      if (isLast) break
      jumps.push(this.emit(instruction.jump))
      this.land(split, 2)
    }
    for (const jump of jumps) this.land(jump, 1)
  }

  private emitElement(element: AST.Element, isBackward: boolean): void {
    switch (element.type) {
      case 'Group':
        if (element.modifiers) throw new PatternError(`changes its flags in ${element.raw}`)
        return this.emitAlternatives(element.alternatives, isBackward)
      case 'CapturingGroup':
        return this.emitAlternatives(element.alternatives, isBackward)
      case 'Quantifier':
        return this.emitQuantifier(element, isBackward)
      case 'Assertion':
        return this.emitAssertion(element)
      case 'Backreference':
        throw new PatternError(`refers back to a group with ${element.raw}: write the alternatives instead`)
      default:
        this.emit(isBackward ? instruction.backward : instruction.forward, this.testOf(element))
    }
  }

  private emitQuantifier({ element, min, max }: AST.Quantifier, isBackward: boolean): void {
    // The repeated element may emit nothing, so each repetition is counted too.
    for (let count = 0; count < min; count += 1) {
      this.allowance.spend(1)
      this.emitElement(element, isBackward)
    }
    if (max === Infinity) {
      const split = this.emit(instruction.split, this.position + 1)
      this.emitElement(element, isBackward)
      this.emit(instruction.jump, split)
      return this.land(split, 2)
    }
    const splits: number[] = []
    for (let count = min; count < max; count += 1) {
      splits.push(this.emit(instruction.split, this.position + 1))
      this.emitElement(element, isBackward)
    }
    for (const split of splits) this.land(split, 2)
  }

  private emitAssertion(assertion: AST.Assertion): void {
    if (assertion.kind === 'word') this.emit(instruction.boundary, assertion.negate ? 1 : 0)
    else if (!('alternatives' in assertion)) {
      this.emit(assertion.kind === 'start' ? instruction.start : instruction.end)
    } else {
      const look = this.emit(instruction.look, 0, assertion.negate ? 1 : 0)
      this.emitAlternatives(assertion.alternatives, assertion.kind === 'lookbehind')
      this.emit(instruction.match)
      this.land(look, 1)
    }
  }

  private testOf(
    element: AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass,
  ): number {
    const known = this.testsBySource.get(element.raw)
    if (known !== undefined) return known
    this.testsBySource.set(element.raw, this.tests.length)
    const test = element.type === 'Character' ? isCharacter(element.value) : isOfClass(element.raw, this.isUnicode)
    return this.tests.push(test) - 1
  }
}

function isCharacter(value: number): (codePoint: number) => boolean {
  return (codePoint) => codePoint === value
}

/** Tests one character against one class with a built-in regular expression, which takes constant time. */
function isOfClass(source: string, isUnicode: boolean): (codePoint: number) => boolean {
  const expression = new RegExp(`^${source}$`, isUnicode ? 'u' : '')
  const unknown = 2
  const ascii = new Uint8Array(128).fill(unknown)
  return (codePoint) => {
    if (codePoint < 0) return false
    if (codePoint >= 128) return expression.test(String.fromCodePoint(codePoint))
    if (ascii[codePoint] === unknown) ascii[codePoint] = Number(expression.test(String.fromCodePoint(codePoint)))
    return ascii[codePoint] === 1
  }
}
