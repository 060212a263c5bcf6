/**
 * The variable by which `llmz` is told not to use QuickJS for the code that models write. No minifier renames it; the agents of the
 * published runtime contain the library too.
 */
const switchOfSandbox = /\bUSE_QUICKJS\b/

/** The end of the program of QuickJS 0.31.0 in base64, which isolates have in JavaScript (sandbox/modules/quickjs.ts). */
const knownProgram = 'DuMBAADmAQAAmEUBAAAEAEGc/AQLAQEAQaz8BAsF/////woAQfD8BAsD4D0B'

/**
 * Whether a bundle runs code that models write, in the realm of the bot: the library has a sandbox of its own, in WebAssembly,
 * and does without where it cannot load it, as in isolates with another version of it than the one that they have.
 */
export function runsModelCode(script: string): boolean {
  return switchOfSandbox.test(script) && !script.includes(knownProgram)
}

/** The warning for those who deploy it. */
export const modelCodeWarning =
  'The code contains llmz, which runs code that models write, without the version of QuickJS that isolates have, in which the ' +
  'library separates that code: it can use all that the code of the bot can, its secrets and granted hosts included. Give the bot ' +
  'none that it does not need, or bundle @jitl/quickjs-singlefile-browser-release-sync 0.31.0 (docs/models.md)'
