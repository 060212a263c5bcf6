import { join } from 'node:path'
import type { BuildOptions } from 'esbuild'
import { groupNames, type GroupName } from '../prelude/groups.ts'
import { builtOnce, type Built } from './build-cache.ts'

export interface Programs {
  /** The program of a sandbox process. It is given on standard input, so the process needs no file. */
  process: string
  /** The program of a process that reads uploads and source maps; given on standard input too. */
  reader: string
  /** The kernel's program, which runs first in each isolate; it defines `inside`. */
  inside: string
  /** The preludes of bundles; each defines `prelude`. */
  groups: Record<GroupName, string>
}

/** Function names are kept, because bot code can read them. */
const minifyButNames = { minifyWhitespace: true, minifySyntax: true } as const

/** Options of programs that run in isolates. */
export const isolateOptions = {
  // Libraries have variants for browsers, which suit isolates: there is no Node.
  platform: 'browser',
  target: 'es2024',
  legalComments: 'none',
  ...minifyButNames,
} as const satisfies BuildOptions

let bundled: Promise<Programs> | undefined

/** Bundles the programs, once per process: their sources do not change while it runs. */
export function bundlePrograms(): Promise<Programs> {
  return (bundled ??= builtOnce('programs', bundleAll))
}

async function bundleAll(): Promise<Built<Programs>> {
  const [node, kernel, preludes] = await Promise.all([
    bundle(['child/main.ts', 'compiler/process/main.ts'], { format: 'cjs', platform: 'node', target: 'node24' }),
    bundle(['isolate/kernel.ts'], {
      format: 'iife',
      globalName: 'inside',
      platform: 'neutral',
      target: 'es2024',
      ...minifyButNames,
    }),
    bundle(
      groupNames.map((name) => `prelude/groups/${name}.ts`),
      { format: 'iife', globalName: 'prelude', ...isolateOptions },
    ),
  ])
  await stopEsbuild()
  const [process, reader] = node.value as [string, string]
  const [inside] = kernel.value as [string]
  const groups = Object.fromEntries(groupNames.map((name, index) => [name, preludes.value[index]!]))
  return {
    value: { process, reader, inside, groups: groups as Programs['groups'] },
    inputs: [...node.inputs, ...kernel.inputs, ...preludes.inputs],
  }
}

let bundledExtractor: Promise<string> | undefined

/**
 * Bundles the program of a process that reads documents, which is given on standard input too. It is the largest one, so
 * a process bundles it when the first document comes.
 */
export function bundleExtractor(): Promise<string> {
  return (bundledExtractor ??= builtOnce('extractor', async () => {
    const options = { format: 'cjs', platform: 'node', target: 'node24', minify: true, legalComments: 'none' } as const
    const { value, inputs } = await bundle(['extractor/process/main.ts'], options).finally(stopEsbuild)
    return { value: value[0]!, inputs }
  }))
}

let bundledScripts: Promise<string> | undefined

/** Bundles the program of the process that runs scripts, when the first one comes: it has 13 MB. */
export function bundleScripts(): Promise<string> {
  return (bundledScripts ??= builtOnce('scripts', async () => {
    const options = { format: 'cjs', platform: 'node', target: 'node24', legalComments: 'none' } as const
    const { value, inputs } = await bundle(['scripts/process/main.ts'], options).finally(stopEsbuild)
    return { value: value[0]!, inputs }
  }))
}

/** Otherwise esbuild's own process would live as long as this one. */
export async function stopEsbuild(): Promise<void> {
  const { stop } = await import('esbuild')
  await stop()
}

const root = join(import.meta.dirname, '..', '..')

/** Bundles each entry into a program of its own. Modules that several entries share are parsed once. */
export async function bundle(entries: string[], options: BuildOptions): Promise<Built<string[]>> {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    ...options,
    absWorkingDir: root,
    entryPoints: entries.map((entry) => `./sandbox/${entry}`),
    bundle: true,
    write: false,
    // Names the programs; nothing is written.
    outdir: '/',
    metafile: true,
    charset: 'utf8',
    tsconfigRaw: {},
  })
  // A module that a package replaces by nothing in browsers is no file.
  const files = Object.keys(metafile.inputs).filter((path) => !path.startsWith('(disabled):'))
  return {
    value: outputFiles.map(({ text }) => text),
    // This file has the options.
    inputs: [import.meta.filename, ...files.map((path) => join(root, path))],
  }
}
