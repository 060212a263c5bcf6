import type { OtherProgram } from '../host/command.ts'
import { sourceFile, type SourcePlace } from './source-map.ts'

/** Beyond this share of its memory it collects garbage, which it otherwise does not, so that honest code stays below. */
const softShare = 0.45

/**
 * esbuild as it transforms one text that it is given into another: without a file name among its arguments, its
 * resolver has an empty file system in memory, whatever comments, imports and paths of the text ask for.
 *
 * @param cpuSeconds beyond which the kernel ends it
 * @param memoryMegabytes what it may hold
 */
export function transformer(
  file: string,
  options: string[],
  { cpuSeconds, memoryMegabytes }: { cpuSeconds: number; memoryMegabytes: number },
): OtherProgram {
  return {
    words: [file, ...commonOptions, ...options],
    files: [file],
    environment: { GOMAXPROCS: '1', GOMEMLIMIT: `${Math.floor(memoryMegabytes * softShare)}MiB` },
    cpuSeconds,
  }
}

const commonOptions = [
  '--loader=ts',
  '--target=es2024',
  '--tsconfig-raw={}',
  '--sourcemap=inline',
  '--sources-content=false',
  '--log-level=error',
  '--log-limit=1',
  '--color=false',
]

/** To the script that an isolate runs. A name that is computed is not known before it runs: then `require` says so. */
export const toScript = ['--format=cjs', `--sourcefile=${sourceFile}`, '--supported:dynamic-import=false']

/** To a module in which `require` has a name that nothing else has, unless the source declares it. */
export function toScan(nonce: string): string[] {
  return ['--format=esm', '--legal-comments=none', `--sourcefile=${sourceFile}`, `--define:require=${nonce}`]
}

/** Has the scan tell whether the source is a module: there, `this` is nothing outside of functions. */
export function asking(nonce: string, source: string): string {
  return `${source}\n;${nonce}(this);\n`
}

/** What the scan of a module holds. */
export function moduleMark(nonce: string): string {
  return `${nonce}(void 0)`
}

const messageCharacters = 1000

/** The first error that esbuild wrote to its standard error; undefined when that is something else. */
export function readError(complaint: string): { problem: string; at?: SourcePlace } | undefined {
  const [, text, rest = ''] = /^✘ \[ERROR\] (.*)\n(?:\n {4}(\S.*:\d+:\d+):\n)?/m.exec(complaint) ?? []
  if (text === undefined) return undefined
  const problem = text.slice(0, messageCharacters)
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(rest) ?? []
  return file === undefined ? { problem } : { problem, at: { file, line: Number(line), column: Number(column) + 1 } }
}
