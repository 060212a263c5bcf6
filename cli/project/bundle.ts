import { isBuiltin } from 'node:module'
import { context, type BuildOptions, type BuildResult, type Message } from 'esbuild'
import { failed } from '../failure.ts'
import type { Problem } from './code-frame.ts'
import type { Project } from './project.ts'

/** What is uploaded: one module, and the way back from it to its sources. */
export interface Bundle {
  code: string
  sourceMap: string
}

export type Bundled = { bundle: Bundle; sources: string[] } | { problems: Problem[] }

/** Bundles a project again and again; from the second time on, only what changed is read. */
export interface Bundler extends AsyncDisposable {
  /** @returns what is wrong with the source, where something is */
  bundle(): Promise<Bundled>
}

export async function openBundler({ folder, entry }: Project): Promise<Bundler> {
  const building = await context(optionsOf(folder, entry))
  return {
    async bundle() {
      try {
        return toBundled(await building.rebuild())
      } catch (error) {
        if (error instanceof Error && 'errors' in error) return { problems: (error.errors as Message[]).map(toProblem) }
        throw failed(`The bot cannot be bundled: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        })
      }
    },
    [Symbol.asyncDispose]: () => building.dispose(),
  }
}

/** What isolates run has no Node around it: libraries are taken in their form for browsers. */
function optionsOf(folder: string, entry: string) {
  return {
    absWorkingDir: folder,
    entryPoints: [entry],
    outfile: 'bot.js',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['browser', 'module', 'main'],
    conditions: ['worker', 'browser'],
    target: 'es2024',
    charset: 'utf8',
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
  } as const satisfies BuildOptions
}

function toBundled({ outputFiles = [], metafile }: BuildResult): Bundled {
  const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? ''
  return {
    bundle: { code: textOf('.js'), sourceMap: textOf('.js.map') },
    sources: Object.keys(metafile?.inputs ?? {}),
  }
}

function toProblem({ text, location }: Message): Problem {
  const [, module] = /^Could not resolve "(.*)"$/.exec(text) ?? []
  const message =
    module !== undefined && isBuiltin(module)
      ? `It imports '${module}', and there is no Node in isolates: use what the web has (fetch, crypto, URL …), or a library that works in browsers`
      : text
  if (!location) return { message }
  return { file: location.file, line: location.line, column: location.column + 1, message }
}
