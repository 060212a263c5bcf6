import type { OpenProgram } from './web-assembly.ts'

/** Bytes of the program in `@jitl/quickjs-singlefile-browser-release-sync` 0.31.0; other versions have other lengths and exports. */
const programBytes = 518_880

/**
 * The JavaScript engine QuickJS, in which `llmz` separates code that models write from the bot: the program of its package,
 * translated into JavaScript (docs/decisions/0115-run-code-of-models-in-quickjs-translated-into-javascript.md).
 */
export const openQuickJs: OpenProgram = (program, imports) =>
  program instanceof Uint8Array && program.length === programBytes ? instantiateQuickJs(imports) : undefined

async function instantiateQuickJs(imports: Parameters<OpenProgram>[1]): Promise<{ exports: object }> {
  const { instantiate } = await import('./quickjs-program.js')
  return { exports: instantiate(imports) }
}
