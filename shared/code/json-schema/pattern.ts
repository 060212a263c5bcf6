import type { Budget } from './budget.ts'
import { instruction, type PatternProgram } from './pattern-program.ts'

/**
 * Whether a pattern matches anywhere in a text.
 *
 * The instruction and the position in the text are the whole state of a run and determine its result, so outside of
 * look-arounds no state is tried twice, and the work is proportional to pattern and text. Each test of a look-around
 * records its own states: a state that has matched in one test must be tried again in the next. The budget bounds the
 * repeated work. States are recorded only after some steps, which most patterns never reach.
 *
 * @throws BudgetExceededError
 */
export function matches(program: PatternProgram, text: string, budget: Budget): boolean {
  const run: Run = { program, text, budget, failed: new Set(), steps: 0 }
  const lastStart = program.code[0] === instruction.start ? 0 : text.length
  for (let start = 0; start <= lastStart; start += 1) {
    if (runFrom(run, 0, start)) return true
    if (program.isUnicode && text.codePointAt(start)! > 0xffff) start += 1
  }
  return false
}

interface Run {
  program: PatternProgram
  text: string
  budget: Budget
  /** States already tried: `position * size + instruction`. */
  failed: Set<number>
  steps: number
}

const unrecordedSteps = 500

function runFrom(run: Run, firstInstruction: number, firstPosition: number): boolean {
  const { program, text, budget, failed } = run
  const { code, tests } = program
  const size = code.length
  const waiting = [firstInstruction, firstPosition]
  while (waiting.length > 0) {
    let position = waiting.pop()!
    let at = waiting.pop()!
    // Until this branch fails.
    for (;;) {
      budget.spend(1)
      run.steps += 1
      const operation = code[at * 3]!
      const operand = code[at * 3 + 1]!
      if (operation === instruction.match) return true
      if (operation === instruction.forward) {
        const character = characterAt(run, position)
        if (!tests[operand]!(character)) break
        position += character > 0xffff ? 2 : 1
        at += 1
      } else if (operation === instruction.split) {
        if (run.steps > unrecordedSteps) {
          const visited = position * size + at
          if (failed.has(visited)) break
          budget.spend(2)
          failed.add(visited)
        }
        waiting.push(code[at * 3 + 2]!, position)
        at = operand
      } else if (operation === instruction.jump) at = operand
      else if (operation === instruction.backward) {
        const character = characterBefore(run, position)
        if (!tests[operand]!(character)) break
        position -= character > 0xffff ? 2 : 1
        at += 1
      } else if (operation === instruction.look) {
        const isNegated = code[at * 3 + 2] === 1
        const inner = { ...run, failed: new Set<number>() }
        if (runFrom(inner, at + 1, position) === isNegated) break
        at = operand
      } else {
        if (!holds(operation, operand, text, position)) break
        at += 1
      }
    }
  }
  return false
}

function holds(operation: number, operand: number, text: string, position: number): boolean {
  if (operation === instruction.start) return position === 0
  if (operation === instruction.end) return position === text.length
  return (isWord(text[position - 1]) !== isWord(text[position])) === (operand === 0)
}

function isWord(character = ''): boolean {
  return /^\w$/.test(character)
}

/** At the end of the text, a number that no test accepts. */
function characterAt({ text, program }: Run, position: number): number {
  if (position >= text.length) return -1
  return program.isUnicode ? text.codePointAt(position)! : text.charCodeAt(position)
}

/** Likewise at its start. */
function characterBefore(run: Run, position: number): number {
  if (position === 0) return -1
  const pair = run.program.isUnicode && position > 1 ? run.text.codePointAt(position - 2)! : 0
  return pair > 0xffff ? pair : run.text.charCodeAt(position - 1)
}
