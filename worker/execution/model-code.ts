/**
 * The variable by which `llmz` is told not to use QuickJS for the code that models write. No minifier renames it; the agents of the
 * published runtime contain the library too.
 */
const switchOfSandbox = /\bUSE_QUICKJS\b/

/**
 * Whether a bundle runs code that models write, in the realm of the bot: the library has a sandbox of its own, in WebAssembly,
 * and does without where it cannot load it, as in isolates.
 */
export function runsModelCode(script: string): boolean {
  return switchOfSandbox.test(script)
}

/** The warning for those who deploy it. */
export const modelCodeWarning =
  'The code contains llmz, which runs code that models write. Isolates have no WebAssembly, in which the library separates ' +
  'that code: it can use all that the code of the bot can, its secrets and granted hosts included. Give the bot none that it does not ' +
  'need (docs/models.md)'
