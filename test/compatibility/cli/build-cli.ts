import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, glob, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build, type BuildOptions, type Plugin } from 'esbuild'

const run = promisify(execFile)

/** The packages of the public repository that the command line consists of, by the folder that holds each. */
const packages = {
  zui: '@bpinternal/zui',
  client: '@botpress/client',
  sdk: '@botpress/sdk',
  'chat-api': '@botpress/chat-api',
  'chat-client': '@botpress/chat',
  cli: '@botpress/cli',
}

/**
 * The newest version of this package in public registries. The repository asks for a later one, of which the command line
 * uses no more.
 */
const generator = { '@botpress/api': '1.70.2' }
const tools = { 'ts-node': '^10.9.2', 'esbuild-plugin-polyfill-node': '^0.3.0', typescript: '^5.9.3' }

interface Manifest {
  version: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** A command line built from a checkout. */
export interface BuiltCli {
  version: string
  /** The script to run with Node. */
  script: string
  /** The folder with all modules that a project needs. */
  modules: string
}

/**
 * Builds the command line of a checkout of the public repository in a folder of its own, which a later call finds again.
 *
 * @param source the checkout, which is not changed
 * @param folder outside of this repository
 */
export async function buildCli(source: string, folder: string): Promise<BuiltCli> {
  const modules = join(folder, 'node_modules')
  const { version } = await manifestOf(source, 'cli')
  const built = { version, script: join(folder, 'packages', 'cli', 'bin.js'), modules }
  const mark = join(folder, `built-${version}`)
  if (existsSync(mark)) return built
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await installModules(source, folder)
  await linkPackages(source, folder)
  await generateClients(folder)
  await bundlePackages(folder)
  await writeFile(mark, '')
  return built
}

async function manifestOf(source: string, name: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(source, 'packages', name, 'package.json'), 'utf8')) as Manifest
}

/** Installs what the packages depend on, without the packages themselves. */
async function installModules(source: string, folder: string): Promise<void> {
  const own = new Set<string>(Object.values(packages))
  const wanted: Record<string, string> = { ...tools, ...generator }
  for (const name of Object.keys(packages)) {
    const { dependencies, devDependencies } = await manifestOf(source, name)
    const published = name === 'zui' || name === 'chat-api' ? devDependencies : {}
    for (const [dependency, range] of Object.entries({ ...published, ...dependencies })) {
      const isUseful = !own.has(dependency) && !/^(?:vitest|tsdown|tsx|oxfmt|@types\/)/.test(dependency)
      if (isUseful) wanted[dependency] ??= range
    }
  }
  const overrides = { esbuild: '0.25.12' }
  const text = JSON.stringify({ private: true, dependencies: { ...wanted, esbuild: '0.25.12' }, overrides })
  await writeFile(join(folder, 'package.json'), text)
  const command = ['install', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', command, { cwd: folder })
}

async function linkPackages(source: string, folder: string): Promise<void> {
  for (const [name, published] of Object.entries(packages)) {
    const target = join(folder, 'packages', name)
    await cp(join(source, 'packages', name), target, { recursive: true })
    const link = join(folder, 'node_modules', published)
    await rm(link, { recursive: true, force: true })
    await mkdir(dirname(link), { recursive: true })
    await symlink(target, link)
  }
}

/** The clients are generated from descriptions of the APIs, by scripts of the packages. */
async function generateClients(folder: string): Promise<void> {
  for (const [name, ...options] of [['client'], ['chat-client', './src/gen']] as const) {
    const cwd = join(folder, 'packages', name)
    const script = join(cwd, 'generate.cjs')
    await bundle({
      entryPoints: [join(cwd, 'openapi.ts')],
      outfile: script,
      external: ['@botpress/api', '@bpinternal/opapi'],
    })
    await run(process.execPath, [script, ...options], { cwd })
  }
}

async function bundlePackages(folder: string): Promise<void> {
  for (const name of ['zui', 'client', 'sdk', 'chat-client']) {
    const cwd = join(folder, 'packages', name)
    const { dependencies = {} } = await manifestOf(folder, name)
    const entry = { entryPoints: [join(cwd, 'src', 'index.ts')], external: Object.keys(dependencies) }
    await bundle({ ...entry, outfile: join(cwd, 'dist', 'index.cjs') })
    const outfile = join(cwd, 'dist', name === 'zui' ? 'index.js' : 'index.mjs')
    const browser: BuildOptions = { platform: 'browser', format: 'esm', plugins: [polyfills(folder)] }
    await bundle({ ...entry, ...browser, external: [...entry.external, 'node:http'], outfile })
  }
  const cli = join(folder, 'packages', 'cli')
  const sources = await Array.fromAsync(glob('src/**/*.ts', { cwd: cli }))
  const entryPoints = sources.filter((path) => !path.includes('.test.')).map((path) => join(cli, path))
  await build({
    entryPoints,
    platform: 'node',
    format: 'cjs',
    outdir: join(cli, 'dist'),
    outbase: join(cli, 'src'),
    tsconfigRaw: {},
  })
}

/** The plugin with which the packages are built for plugins, whose code is made for browsers too. */
function polyfills(folder: string): Plugin {
  const { polyfillNode } = createRequire(join(folder, 'package.json'))('esbuild-plugin-polyfill-node') as {
    polyfillNode(): Plugin
  }
  return polyfillNode()
}

async function bundle(options: BuildOptions): Promise<void> {
  await build({
    bundle: true,
    platform: 'node',
    format: 'cjs',
    tsconfigRaw: {},
    logLevel: 'error',
    keepNames: true,
    ...options,
  })
}
