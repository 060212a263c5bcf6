import type { Place, SourceMapIndex, SourcePlace } from './source-map.ts'

/** Code as its author uploads it. */
export interface Upload {
  /** TypeScript or JavaScript; its last line may hold a source map, as `data:` URL. */
  source: string
  /** As JSON, in place of that one. */
  sourceMap?: string | undefined
}

/** What an isolate runs. */
export interface Script {
  /** A CommonJS script. */
  code: string
  /** JSON that leads positions of it back to the source; empty where they are the same. */
  sourceMap: string
}

/** A module that code asks for by its name. */
export interface ImportedName extends Place {
  name: string
}

/** A file of the author's, as the source map carries it. */
export interface SourceFile {
  path: string
  content: string
}

/** Code that was compiled. Nothing of it was run. */
export interface Compiled {
  status: 'compiled'
  native: Script
  /** As it was uploaded, without its source map: bundles of the public SDK run so. Absent of what is a module. */
  asIs?: Script
  /** In the order of their lines. */
  imports: ImportedName[]
  /** Empty where the source map carries none. */
  files: SourceFile[]
}

export type Compilation =
  | Compiled
  /** It is no code. */
  | { status: 'refused'; problem: string; at?: SourcePlace }
  /** It takes more than one upload may take. */
  | { status: 'exceeded'; problem: string; limit: 'time' | 'memory' | 'size' }

/** Of each process that compiles an upload. */
export interface CompileLimits {
  /** Of processor time. */
  seconds: number
  memoryMegabytes: number
}

export interface Compiler {
  /**
   * Compiles an upload in processes of its own, which are there for it alone.
   *
   * @param owner takes turns with other owners
   * @param load reads the upload when its turn has come; undefined when nobody waits for it any more
   * @throws CompilerError when the processes ended through no fault of the upload
   */
  compile(owner: string, load: () => Promise<Upload>): Promise<Compilation>
  compile(owner: string, load: () => Promise<Upload | undefined>): Promise<Compilation | undefined>
  /**
   * Reads a stored source map in a process of its own.
   *
   * @returns undefined when it is none, or takes more than it may
   */
  readSourceMap(owner: string, sourceMap: string): Promise<SourceMapIndex | undefined>
  /** Ends all compilations in flight. */
  close(): Promise<void>
}

/** A process ended that should not have: the next one may not. */
export class CompilerError extends Error {
  override name = 'CompilerError'
}
