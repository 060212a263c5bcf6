/** The outcome of a script. The reason of a failure is for the author of the integration. */
export type ScriptOutcome = { status: 'completed'; result: unknown } | { status: 'failed'; reason: string }

/**
 * Runs scripts of integrations in the Vector Remap Language: they read requests, and write links. They have neither
 * network, files nor time of their own.
 */
export interface Scripts {
  /**
   * Runs a script.
   *
   * @param input the object that the script sees as `.`
   * @throws ScriptsError when the process ended through no fault of the script
   */
  run(owner: string, script: string, input: object): Promise<ScriptOutcome>
  /** Ends the process. */
  close(): Promise<void>
}

/** The process ended unexpectedly; another attempt may succeed. */
export class ScriptsError extends Error {
  override name = 'ScriptsError'
}
