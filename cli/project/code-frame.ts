import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { styled } from '../output.ts'

/** A problem in the source of a bot. Line and column count from 1. */
export interface Problem {
  /** Path relative to the project's folder. */
  file?: string
  line?: number
  column?: number
  message: string
}

const linesAround = 2

/** Problems as text for people: position, message and the surrounding lines. */
export async function showProblems(folder: string, problems: readonly Problem[]): Promise<string> {
  const shown = await Promise.all(problems.map((problem) => showProblem(folder, problem)))
  return shown.join('\n\n')
}

async function showProblem(folder: string, { file, line, column = 1, message }: Problem): Promise<string> {
  if (file === undefined || line === undefined) return message
  const location = `${styled('cyan', file)}:${line}:${column}`
  const source = await readFile(resolve(folder, file), 'utf8').catch(() => undefined)
  const heading = `${location}: ${message}`
  return source === undefined ? heading : `${heading}\n${codeFrame(source, { line, column })}`
}

/** The lines around a position in a text, with a mark below the position. */
export function codeFrame(source: string, { line, column }: { line: number; column: number }): string {
  const lines = source.split('\n')
  const first = Math.max(1, line - linesAround)
  const last = Math.min(lines.length, line + linesAround)
  const width = String(last).length
  const frame: string[] = []
  for (let number = first; number <= last; number++) {
    const text = lines[number - 1]!.trimEnd()
    const margin = `${number === line ? '>' : ' '} ${String(number).padStart(width)} |`
    frame.push(`${styled('gray', margin)} ${text}`.trimEnd())
    if (number !== line) continue
    // Tabs before the position stay tabs, so that the mark is aligned.
    const before = text.slice(0, column - 1).replaceAll(/[^\t]/g, ' ')
    frame.push(`${styled('gray', `${' '.repeat(width + 3)}|`)} ${before}${styled('red', '^')}`)
  }
  return frame.join('\n')
}
