import type { OtherProgram } from '../isolation/command.ts'
import { sourceFile, type SourcePosition } from './source-map.ts'

/**
 * Share of its memory beyond which esbuild collects garbage, so that ordinary code stays below the limit. Below this
 * share it does not collect.
 */
const softShare = 0.45

/**
 * esbuild as a transformer of one text into another. Without a file name among its arguments, its resolver works on an
 * empty file system in memory, whatever comments, imports and paths the text contains.
 *
 * @param cpuSeconds processor time after which the kernel ends it
 * @param memoryMegabytes upper bound of its memory
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

/** A module's place, for packages that look for files beside it as they load: the same as the global `__filename` names. */
const moduleProperties = { url: 'file:///bot.js', filename: '/bot.js', dirname: '/' }

/**
 * Options for the script that an isolate runs. Computed names of modules are unknown before the script runs; at run
 * time, `require` reports them.
 */
export const toScript = [
  '--format=cjs',
  `--sourcefile=${sourceFile}`,
  '--supported:dynamic-import=false',
  ...Object.entries(moduleProperties).map(([name, value]) => `--define:import.meta.${name}=${JSON.stringify(value)}`),
]

/** The name of the script of flows in errors. */
export const flowsFile = 'flows'

/** Options for the script of flows, which follows the script of the code. */
export const toFlows = [
  '--format=cjs',
  `--sourcefile=${flowsFile}`,
  '--supported:dynamic-import=false',
  '--minify-whitespace',
]

/** Options for a module in which `require` has a unique name, unless the source declares `require` itself. */
export function toScan(nonce: string): string[] {
  return ['--format=esm', '--legal-comments=none', `--sourcefile=${sourceFile}`, `--define:require=${nonce}`]
}

/** Makes the scan show whether the source is a module: in a module, `this` is undefined outside of functions. */
export function asking(nonce: string, source: string): string {
  return `${source}\n;${nonce}(this);\n`
}

/** The text that the scan of a module contains. */
export function moduleMark(nonce: string): string {
  return `${nonce}(void 0)`
}

const messageCharacters = 1000

/** Reads the first error in esbuild's standard error; undefined when the output has another form. */
export function readError(complaint: string): { problem: string; at?: SourcePosition } | undefined {
  const [, text, rest = ''] = /^✘ \[ERROR\] (.*)\n(?:\n {4}(\S.*:\d+:\d+):\n)?/m.exec(complaint) ?? []
  if (text === undefined) return undefined
  const problem = text.slice(0, messageCharacters)
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(rest) ?? []
  return file === undefined ? { problem } : { problem, at: { file, line: Number(line), column: Number(column) + 1 } }
}
