import { execFile } from 'node:child_process'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { build, type BuildFailure, type Plugin } from 'esbuild'
import { commandLineSettings } from '../../sdk/bundle.ts'
import type { ThirdPartyProject } from './projects.ts'
import type { SdkVersion } from './sdk-versions.ts'

const run = promisify(execFile)

/** The declarations of a project, with schemas in JSON. */
export interface Definition {
  name?: string
  version?: string
  [part: string]: unknown
}

export interface BuiltProject {
  code: string
  definition: Definition
  /** Names of interfaces and of other projects whose declarations the build leaves out. */
  left: string[]
}

/**
 * Copies a project, installs its packages and bundles it, with the settings of the public command line.
 *
 * @param folder for the copy
 * @throws Error with the reason in one line
 */
export async function buildProject(
  project: ThirdPartyProject,
  { sdk, replaced }: SdkVersion,
  folder: string,
): Promise<BuiltProject> {
  await cp(project.folder, folder, { recursive: true, filter: (path) => !/node_modules|\.git$/.test(basename(path)) })
  await rm(join(folder, 'package-lock.json'), { force: true })
  // Some versions of the SDK import React and do not install it. Definitions for early versions have schemas of Zod itself.
  const own = { react: '^18.0.0', 'zod-to-json-schema': '3.23.5' }
  const dependencies = { ...own, ...project.dependencies, ...replaced, '@botpress/sdk': sdk }
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as object
  // Sources import the manifest for their name and version.
  const cleared = {
    devDependencies: {},
    peerDependencies: {},
    workspaces: undefined,
    overrides: replaced,
    pnpm: undefined,
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, ...cleared, dependencies }))
  const options = ['--force', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...options], { cwd: folder, maxBuffer: 64 * 1024 * 1024 }).catch((error: Error) => {
    const [, reason = error.message] =
      /npm error (?:notarget |404 )?((?:No matching|[^\n]*Not found)[^\n]*)/i.exec(error.message) ?? []
    throw new Error(`npm install: ${reason.split('\n', 1)[0]!}`)
  })
  const left = new Set<string>()
  const plugins = [standIns(folder, left)]
  const code = await bundle(
    folder,
    plugins,
    `import * as all from './src/index.ts'
     const instance = all.default?.handler ? all.default : Object.values(all).find((one) => one?.handler)
     export default instance
     export const handler = instance?.handler`,
  )
  const definition = await bundle(
    folder,
    plugins,
    `export { default } from './${project.kind}.definition.ts'
     export { zodToJsonSchema } from 'zod-to-json-schema'`,
  )
  await writeFile(join(folder, 'definition.cjs'), definition)
  // The definition is code of a stranger: it gets no environment and changes no file.
  const { stdout } = await run(
    process.execPath,
    [
      '--permission',
      `--allow-fs-read=${folder}`,
      `--allow-fs-read=${import.meta.dirname}`,
      join(import.meta.dirname, 'print-definition.cjs'),
      join(folder, 'definition.cjs'),
    ],
    { env: {}, maxBuffer: 64 * 1024 * 1024, timeout: 60_000 },
  ).catch((error: Error) => {
    throw new Error(`definition: ${/\w*Error: [^\n]*/.exec(error.message)?.[0] ?? error.message.slice(0, 200)}`)
  })
  return { code, definition: JSON.parse(stdout.slice(stdout.lastIndexOf('\n{') + 1)) as Definition, left: [...left] }
}

async function bundle(folder: string, plugins: Plugin[], contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    absWorkingDir: folder,
    ...commandLineSettings,
    write: false,
    logLevel: 'silent',
    loader: { '.md': 'text', '.html': 'text', '.svg': 'text' },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, baseUrl: '.' } },
    plugins,
  }).catch((error: BuildFailure) => {
    throw new Error(`bundle: ${error.errors[0]?.text ?? error.message}`)
  })
  return outputFiles[0]!.text
}

const added = (name: string) => `
    const parts = { entities: {}, actions: {}, events: {}, channels: {}, states: {} }
    const one = { type: 'interface', name: ${JSON.stringify(name)}, version: '1.0.0', ...parts, configuration: {}, configurations: {} }
    module.exports = { ...one, definition: one, __esModule: true, default: { ...one, definition: one } }`

/**
 * Modules that `bp` generates or adds: `.botpress` has the classes of the SDK and secrets of no account, and one of
 * `bp_modules` an interface without declarations.
 *
 * @param left gets the names of these interfaces
 */
function standIns(folder: string, left: Set<string>): Plugin {
  const sdk = createRequire(join(folder, 'package.json')).resolve('@botpress/sdk')
  const generated = `
    const sdk = require(${JSON.stringify(sdk)})
    const none = new Proxy({}, { get: () => 'none' })
    class Bot extends sdk.Bot { constructor(given) { super({ actions: {}, plugins: {}, ...given }) } }
    module.exports = { ...sdk, Bot, secrets: none, configuration: {}, channels: {}, actions: {}, events: {}, states: {} }`
  return {
    name: 'stand-ins',
    setup(build) {
      build.onResolve({ filter: /(?:^|\/)\.botpress(?:\/|$)/ }, ({ path }) => ({ path, namespace: 'generated' }))
      build.onResolve({ filter: /(?:^|\/)bp_modules\// }, ({ path }) => ({ path, namespace: 'added' }))
      build.onLoad({ filter: /.*/, namespace: 'generated' }, () => ({ contents: generated, resolveDir: folder }))
      build.onLoad({ filter: /.*/, namespace: 'added' }, ({ path }) => {
        const name = /bp_modules\/([^/]+)/.exec(path)![1]!
        left.add(name)
        return { contents: added(name), resolveDir: folder }
      })
      // Sources below the base of the project.
      build.onResolve({ filter: /^src\// }, ({ path }) =>
        build.resolve(`./${path}`, { kind: 'import-statement', resolveDir: folder }),
      )
    },
  }
}
