import { fileURLToPath } from 'node:url'
import { build, stop, type BuildOptions } from 'esbuild'
import { groupNames, type GroupName } from '../prelude/groups.ts'

export interface Programs {
  /** What a sandbox process runs; it is given on standard input, so there is no file for it to read. */
  process: string
  /** What a process runs that reads uploads and source maps; likewise. */
  reader: string
  /** What runs first in each isolate; it defines `inside`. */
  inside: string
  /** What bundles find around them; each defines `prelude`. */
  groups: Record<GroupName, string>
}

/** Bot code sees the names of functions. */
const minifyButNames = { minifyWhitespace: true, minifySyntax: true } as const

let bundled: Promise<Programs> | undefined

/** Bundles the programs, in memory. What they are made of does not change while this process runs. */
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
  // Otherwise esbuild's own process stays for as long as this one.
  await stop()
  return { process, reader, inside, groups: Object.fromEntries(groups) as Programs['groups'] }
}

function bundlePrelude(entry: string): Promise<string> {
  return bundle(entry, {
    format: 'iife',
    globalName: 'prelude',
    // Libraries have variants for browsers, which is what they are to run in here: no Node.
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
