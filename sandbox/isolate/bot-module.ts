import {
  apply,
  assign,
  create,
  defineProperty,
  hasOwn,
  indexIn,
  isArray,
  isObject,
  keys,
  NativeError,
  NativeTypeError,
  record,
  sliceText,
  toText,
} from './primordials.ts'

/** The exports of a bundle. */
export type BotExports = Record<string, unknown>

/** An evaluated bundle: its exports, and the flows that were uploaded beside the code. */
export interface EvaluatedModule {
  exports: BotExports
  flows: unknown
}

/** Evaluates the bundle as a CommonJS module. */
export function evaluateModule(wrapper: unknown, modules: ProvidedModules): EvaluatedModule {
  const module: { exports: unknown; flows?: unknown } = { exports: {} }
  if (typeof wrapper !== 'function') throw new NativeTypeError('The bundle is not a script')
  apply(wrapper, module.exports, [module, module.exports, modules.require, modules.importModule])
  const { exports } = module
  if (!isObject(exports)) throw new NativeTypeError('module.exports must be an object')
  return { exports, flows: hasOwn(module, 'flows') ? module.flows : undefined }
}

/** The bundle's `isolation` export: `event` gives each run a realm of its own. The value is not validated. */
export function isolationOf(bot: BotExports): unknown {
  return hasOwn(bot, 'isolation') ? bot['isolation'] : undefined
}

/** The bundle's `flows` export. */
export function flowsOf(bot: BotExports): unknown {
  return hasOwn(bot, 'flows') ? bot['flows'] : undefined
}

export interface ProvidedModules {
  /** The `require` of bundles. */
  require: (name: unknown) => unknown
  /** The `import()` of bundles of the public SDK. */
  importModule: (name: unknown) => Promise<object>
  /** Adds modules, by name, each with a function that makes it on first use. */
  add(provided: Record<string, () => unknown> | undefined): void
}

/** Makes an empty set of modules. */
export function createModules(): ProvidedModules {
  const makers = create(null) as Record<string, () => unknown>
  const made = create(null) as Record<string, { module: unknown }>
  const find = (given: unknown): string => {
    const name = withoutPrefix(toText(given))
    if (makers[name] !== undefined) return name
    const message = `Cannot find module '${name}': it is not in the bundle, and isolates provide only modules of Node that the bundle names in a call, such as require('util') (docs/node-modules.md)`
    throw assign(new NativeError(message), { code: 'MODULE_NOT_FOUND' })
  }
  const require = (given: unknown): unknown => {
    const name = find(given)
    const module = (made[name] ??= record({ module: makers[name]!() }))
    return module.module
  }
  const namespaces = create(null) as Record<string, object>
  return {
    importModule: async (given) => (namespaces[find(given)] ??= namespaceOf(require(given))),
    require: assign(require, { resolve: find, cache: create(null) as object, main: undefined }),
    add(provided) {
      if (provided === undefined) return
      const names = keys(provided)
      for (let index = 0; index < names.length; index += 1) makers[names[index]!] = provided[names[index]!]!
    },
  }
}

/** The result of an `import()` of a module of Node: the module as `default`, and each of its properties. */
function namespaceOf(module: unknown): object {
  const namespace = create(null) as Record<string, unknown>
  const names = isObject(module) || typeof module === 'function' ? keys(module) : []
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const get = () => (module as Record<string, unknown>)[name]
    defineProperty(namespace, name, record({ enumerable: true, configurable: true, get }))
  }
  defineProperty(namespace, 'default', record({ enumerable: true, value: module }))
  return namespace
}

function withoutPrefix(name: string): string {
  return indexIn(name, 'node:') === 0 ? sliceText(name, 'node:'.length) : name
}

/** The hook functions of a stage, in order, and the object that they are methods of. */
export function hooksOf(bot: BotExports, stage: string): { hooks: ArrayLike<unknown>; self: unknown } {
  const self = bot['hooks']
  const declared = isObject(self) && hasOwn(self, stage) ? self[stage] : undefined
  if (declared === undefined) return { hooks: record({ length: 0 }), self }
  return { hooks: isArray(declared) ? declared : record({ 0: declared, length: 1 }), self }
}

export function actionOf(bot: BotExports, name: string): Function {
  const actions = bot['actions']
  const action = isObject(actions) && hasOwn(actions, name) ? actions[name] : undefined
  if (typeof action !== 'function') throw new NativeError(`The bot has no action '${name}'`)
  return action
}
