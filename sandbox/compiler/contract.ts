import type { Position, SourceMapIndex, SourcePosition } from './source-map.ts'

/** Code as its author uploads it. */
export interface Upload {
  /** TypeScript or JavaScript; its last line may hold a source map as a `data:` URL. */
  source: string
  /** A source map as JSON, which replaces the one in the source. */
  sourceMap?: string | undefined
  /** The script of the flows that are uploaded beside the code. */
  flows?: string | undefined
}

/** The script that an isolate runs. */
export interface Script {
  /** A CommonJS script. */
  code: string
  /** Source map as JSON; empty where positions in the script equal those in the source. */
  sourceMap: string
}

/** A module that code imports by name. */
export interface ImportedName extends Position {
  name: string
}

/** A file of the author's, from the contents in the source map. */
export interface SourceFile {
  path: string
  content: string
}

/** Compiled code. No part of it has been run. */
export interface Compiled {
  status: 'compiled'
  native: Script
  /** The script of the flows, as JavaScript. */
  flows?: string
  /** Whether the upload is an ES module, by its imports and exports. */
  isModule: boolean
  /** Ordered by line. */
  imports: ImportedName[]
  /** Empty where the source map contains no contents. */
  files: SourceFile[]
}

/** A bundle of the public SDK, which runs as uploaded, with calls of `importName` in place of `import()`. No part of it has been run. */
export interface ReadBundle {
  status: 'read'
  script: Script
  /** As for compiled code. */
  files: SourceFile[]
}

export type Compilation =
  | Compiled
  /** The upload is not valid code. For the script of the flows, the position names the file `flows`. */
  | { status: 'refused'; problem: string; at?: SourcePosition }
  /** Compilation exceeds a limit. */
  | { status: 'exceeded'; problem: string; limit: 'time' | 'memory' | 'size' }

/** Limits of each process that compiles an upload. */
export interface CompileLimits {
  /** Processor time. */
  seconds: number
  memoryMegabytes: number
}

export interface Compiler {
  /**
   * Compiles an upload in processes that serve this upload alone.
   *
   * @param owner owners take turns
   * @param load reads the upload when the owner's turn has come; undefined when the compilation is no longer wanted
   * @throws CompilerError when the processes ended through no fault of the upload
   */
  compile(owner: string, load: () => Promise<Upload>): Promise<Compilation>
  compile(owner: string, load: () => Promise<Upload | undefined>): Promise<Compilation | undefined>
  /**
   * Reads an upload that may be a bundle of the public SDK, which is not transformed: bundles are large.
   *
   * @param load as for `compile`
   * @returns undefined when it is an ES module, or not valid code: `compile` says why
   */
  readBundle(owner: string, load: () => Promise<Upload | undefined>): Promise<ReadBundle | undefined>
  /**
   * Reads a stored source map in a process of its own.
   *
   * @returns undefined when it is not a source map, or exceeds its limits
   */
  readSourceMap(owner: string, sourceMap: string): Promise<SourceMapIndex | undefined>
  /** Ends all compilations in flight. */
  close(): Promise<void>
}

/** A process ended unexpectedly; another attempt may succeed. */
export class CompilerError extends Error {
  override name = 'CompilerError'
}
