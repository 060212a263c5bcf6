import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import { shapesOf, type Shapes } from '../modules/shapes.ts'
import { furtherModules, modulesOf, nodeModuleNames, scriptNames, type ScriptName } from '../modules/table.ts'
import { builtOnce, type Built } from './build-cache.ts'
import { bundle, isolateOptions, stopEsbuild } from './programs.ts'

/** The scripts of Node's modules; each is sent to a sandbox process when a bundle first needs it. */
export type ModulePrograms = Record<ScriptName, string>

let bundled: Promise<ModulePrograms> | undefined

/** Bundles the scripts, once per process, when the first bundle names one of their modules. */
export function bundleModules(): Promise<ModulePrograms> {
  return (bundled ??= readModules())
}

/** The shapes in the scripts are those of the Node that runs them, whichever one bundled them. */
async function readModules(): Promise<ModulePrograms> {
  const programs = await bundleModuleScripts()
  const scripts = scriptNames.map((name) => [name, toScript(name, programs[name])])
  return Object.fromEntries(scripts) as ModulePrograms
}

/** The scripts without the shapes of Node's modules. */
export function bundleModuleScripts(): Promise<ModulePrograms> {
  return builtOnce('modules', bundleAll)
}

async function bundleAll(): Promise<Built<ModulePrograms>> {
  const built = await Promise.all(scriptNames.map(bundleScript))
  await stopEsbuild()
  return {
    value: Object.fromEntries(scriptNames.map((name, index) => [name, built[index]!.value[0]!])) as ModulePrograms,
    inputs: [import.meta.filename, ...new Set(built.flatMap(({ inputs }) => inputs))],
  }
}

async function bundleScript(name: ScriptName): Promise<Built<string[]>> {
  return bundle([`modules/scripts/${name}.ts`], { ...isolateOptions, format: 'cjs', plugins: [sharing(name)] })
}

/** Packages that a script has a copy of, because the script that provides them is much larger. */
const copied = new Set(['string_decoder/', 'punycode/'])

/**
 * Lets the modules of other scripts stay as calls of `require`, so that there is one of each. Libraries write a slash
 * behind the name of a package that is also a module of Node.
 */
function sharing(script: ScriptName): Plugin {
  const own: readonly string[] = modulesOf(script)
  const names: readonly string[] = nodeModuleNames
  return {
    name: 'modules of Node',
    setup({ onResolve }) {
      onResolve({ filter: /^(?:node:)?[a-z_]+(?:\/[a-z0-9]*)?$/ }, ({ path }) => {
        const module = path.replace(/\/$/, '')
        if (copied.has(path) || own.includes(module) || !names.includes(module)) return undefined
        return { path: module, external: true }
      })
      onResolve({ filter: /^qs$/ }, () => ({ path: join(import.meta.dirname, '../modules/aliases/qs.ts') }))
      // Only a fallback, where there are no globals of these names.
      onResolve({ filter: /^abort-controller$/ }, ({ path }) => ({ path, external: true }))
    },
  }
}

/** A prelude whose modules are evaluated on first use. One without modules is evaluated at once. */
function toScript(name: ScriptName, program: string): string {
  const shapes: Shapes = shapesOf(name)
  return `(() => {
  'use strict'
  const load = (require, module, exports) => { ${program}
return module.exports.provide }
  return (platform, require) => {
    let provided
    const provide = () => {
      const module = { exports: {} }
      return load(require, module, module.exports)(platform, ${JSON.stringify(shapes)}, require)
    }
    const names = ${JSON.stringify([...modulesOf(name), ...(furtherModules[name] ?? [])])}
    if (${modulesOf(name).length === 0}) provided = provide()
    return Object.fromEntries(names.map((name) => [name, () => (provided ??= provide())[name]()]))
  }
})()`
}
