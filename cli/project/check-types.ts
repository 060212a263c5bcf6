import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { failed } from '../failure.ts'
import type { Problem } from './code-frame.ts'
import { isFile, type Project } from './project.ts'

const run = promisify(execFile)

const outputCharacters = 16 * 1024 * 1024

/**
 * Runs the TypeScript compiler on a project.
 *
 * @returns the problems; undefined when the project has no tsconfig.json or the compiler is not installed
 */
export async function checkTypes(
  { folder }: Pick<Project, 'folder'>,
  signal?: AbortSignal,
): Promise<Problem[] | undefined> {
  const compiler = findCompiler()
  if (compiler === undefined || !(await isFile(join(folder, 'tsconfig.json')))) return undefined
  try {
    const options = { cwd: folder, maxBuffer: outputCharacters, ...(signal && { signal }) }
    await run(process.execPath, [compiler, '--noEmit', '--pretty', 'false', '--project', 'tsconfig.json'], options)
    return []
  } catch (error) {
    signal?.throwIfAborted()
    const output = (error as { stdout?: string }).stdout ?? ''
    const problems = readProblems(output)
    if (problems.length > 0) return problems
    throw failed(`The types cannot be checked: ${output.trim() || String(error)}`, { cause: error })
  }
}

/** The script of the compiler that is installed with isobot. */
function findCompiler(): string | undefined {
  try {
    return fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')))
  } catch {
    return undefined
  }
}

const diagnostic = /^(.+)\((\d+),(\d+)\): error (TS\d+: .*)$/

/** Parses the compiler's output. Indented lines continue the problem above. */
function readProblems(output: string): Problem[] {
  const problems: Problem[] = []
  for (const line of output.split('\n')) {
    const [, file, row, column, message] = diagnostic.exec(line) ?? []
    if (message !== undefined) problems.push({ file: file!, line: Number(row), column: Number(column), message })
    else if (/^error TS\d+: /.test(line)) problems.push({ message: line })
    else if (/^\s+\S/.test(line) && problems.length > 0) problems.at(-1)!.message += `\n${line}`
  }
  return problems
}
