import { fileURLToPath } from 'node:url'
import { buildSync, stop, type BuildOptions } from 'esbuild'
import { groupNames, type GroupName } from './prelude/groups.ts'

export interface Programs {
  /** What a sandbox process runs; it is given on standard input, so there is no file for it to read. */
  process: string
  /** What runs first in each isolate; it defines `inside`. */
  inside: string
  /** What bundles find around them; each defines `prelude`. */
  groups: Record<GroupName, string>
}

/** Bot code sees the names of functions. */
const minifyButNames = { minifyWhitespace: true, minifySyntax: true } as const

/** Bundles the programs, in memory. */
export async function bundlePrograms(): Promise<Programs> {
  const programs = {
    process: bundle('./process/main.ts', { format: 'cjs', platform: 'node', target: 'node24' }),
    inside: bundle('./inside/kernel.ts', {
      format: 'iife',
      globalName: 'inside',
      platform: 'neutral',
      target: 'es2024',
      ...minifyButNames,
    }),
    groups: Object.fromEntries(
      groupNames.map((name) => [name, bundlePrelude(`./prelude/groups/${name}.ts`)]),
    ) as Programs['groups'],
  }
  // Otherwise esbuild's own process stays for as long as this one.
  await stop()
  return programs
}

function bundlePrelude(entry: string): string {
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

function bundle(entry: string, options: BuildOptions): string {
  const { outputFiles } = buildSync({
    ...options,
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    write: false,
    charset: 'utf8',
    tsconfigRaw: {},
  })
  return outputFiles[0]!.text
}
