import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export interface BundleOptions {
  /** As the public command line does unless told otherwise. */
  minify?: boolean
}

/**
 * Bundles a module whose default export is a `Bot` or an `Integration` of the public SDK, with the settings of the
 * public command line.
 *
 * @param entry relative to this file
 * @returns a CommonJS script that exports `handler`
 */
export async function bundleSdk(entry: string, { minify = true }: BundleOptions = {}): Promise<string> {
  const module = JSON.stringify(`./${entry}`)
  const { outputFiles } = await build({
    stdin: {
      contents: `import instance from ${module}; export default instance; export const handler = instance.handler`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    write: false,
    platform: 'node',
    target: 'es2020',
    keepNames: true,
    legalComments: 'none',
    minify,
    tsconfigRaw: {},
  })
  return outputFiles[0]!.text
}
