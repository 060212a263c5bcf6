import { fileURLToPath } from 'node:url'
import { build, type BuildOptions } from 'esbuild'

export interface BundleOptions {
  /** As the public command line does unless told otherwise. */
  minify?: boolean
}

/** The settings with which the public command line bundles projects. */
export const commandLineSettings = {
  bundle: true,
  platform: 'node',
  target: 'es2020',
  keepNames: true,
  legalComments: 'none',
  minify: true,
} satisfies BuildOptions

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
    ...commandLineSettings,
    write: false,
    minify,
    tsconfigRaw: {},
  })
  return outputFiles[0]!.text
}
