/** The outcome of a script. The reason of a failure is for the author of the integration. */
export type ScriptOutcome = { status: 'completed'; result: unknown } | { status: 'failed'; reason: string }

/** The outcome of the compilation of a script, with the first of its faults. */
export type ScriptCompilation =
  | { status: 'compiled' }
  | { status: 'faulty'; line: number; column: number; message: string; faults: number }
  /** The compiler does not come to an end. */
  | { status: 'failed'; reason: string }

/**
 * Runs scripts of integrations in the Vector Remap Language: they read requests, and write links. They have neither
 * network, files nor time of their own.
 */
export interface Scripts {
  /**
   * Runs a script.
   *
   * @param input the object that the script sees as `.`
   * @throws ScriptsError when the process ended, which may be no fault of the script
   */
  run(owner: string, script: string, input: object): Promise<ScriptOutcome>
  /**
   * Compiles a script, and does not run it.
   *
   * @throws ScriptsError as `run` does
   */
  compile(owner: string, script: string): Promise<ScriptCompilation>
  /** Ends the process. */
  close(): Promise<void>
}

/** The process ended unexpectedly; another attempt may succeed. */
export class ScriptsError extends Error {
  override name = 'ScriptsError'
}
