import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { targetOf, webchatBrowsers } from './browsers.ts'
import { root } from './output.ts'

/**
 * Bundles the widget of web chats: `inject.js`, the script of pages, which the api sends with an appearance before it; and
 * the script and the style of the frame, whose names change with their content.
 */
export async function bundleWidget(): Promise<{ name: string; content: Uint8Array }[]> {
  const directory = join(root, 'console', 'widget')
  const common = {
    bundle: true,
    minify: true,
    write: false,
    outdir: root,
    target: targetOf(webchatBrowsers),
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'error',
  } as const
  const built = await Promise.all([
    build({ ...common, entryPoints: [join(directory, 'inject.ts')], format: 'iife' }),
    build({
      ...common,
      entryPoints: [{ in: join(directory, 'frame.tsx'), out: 'frame' }],
      entryNames: '[name]-[hash]',
      format: 'esm',
    }),
  ])
  return built.flatMap(({ outputFiles }) =>
    outputFiles.map(({ path, contents }) => ({ name: basename(path), content: contents })),
  )
}
