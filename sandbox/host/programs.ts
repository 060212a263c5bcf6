import { fileURLToPath } from 'node:url'
import { build, stop, type BuildOptions } from 'esbuild'
import { groupNames, type GroupName } from '../prelude/groups.ts'

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

let bundled: Promise<Programs> | undefined

/** Bundles the programs in memory, once per process: their sources do not change while it runs. */
export function bundlePrograms(): Promise<Programs> {
  return (bundled ??= bundleAll())
}

async function bundleAll(): Promise<Programs> {
  const [process, reader, inside, groups] = await Promise.all([
    bundle('../child/main.ts', { format: 'cjs', platform: 'node', target: 'node24' }),
    bundle('../compiler/process/main.ts', { format: 'cjs', platform: 'node', target: 'node24' }),
    bundle('../isolate/kernel.ts', {
      format: 'iife',
      globalName: 'inside',
      platform: 'neutral',
      target: 'es2024',
      ...minifyButNames,
    }),
    Promise.all(groupNames.map(async (name) => [name, await bundlePrelude(`../prelude/groups/${name}.ts`)] as const)),
  ])
  // Otherwise esbuild's own process would live as long as this one.
  await stop()
  return { process, reader, inside, groups: Object.fromEntries(groups) as Programs['groups'] }
}

let bundledExtractor: Promise<string> | undefined

/**
 * Bundles the program of a process that reads documents, which is given on standard input too. It is the largest one, so
 * a process bundles it when the first document comes.
 */
export function bundleExtractor(): Promise<string> {
  const options = { format: 'cjs', platform: 'node', target: 'node24', minify: true, legalComments: 'none' } as const
  bundledExtractor ??= bundle('../extractor/process/main.ts', options).finally(stop)
  return bundledExtractor
}

function bundlePrelude(entry: string): Promise<string> {
  return bundle(entry, {
    format: 'iife',
    globalName: 'prelude',
    // Libraries have variants for browsers, which suit isolates: there is no Node.
    platform: 'browser',
    target: 'es2024',
    legalComments: 'none',
    ...minifyButNames,
  })
}

async function bundle(entry: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    ...options,
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    write: false,
    charset: 'utf8',
    tsconfigRaw: {},
  })
  return outputFiles[0]!.text
}
