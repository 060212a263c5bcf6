import { isBuiltin } from 'node:module'
import { build, type Plugin } from 'esbuild'
import { findNodeModule } from '#sandbox/modules/table.ts'
import type { Script, V12Bot } from './bots.ts'
import type { Conversion, NewCard } from './conversion.ts'
import { Ids } from './ids.ts'

/** Members of `bp` that the wrapper has. */
const members =
  /^(?:events\.(?:replyToEvent|replyContentToEvent)|cms\.(?:renderElement|renderTemplate)|kvs\.\w+|logger\.\w+|dialog\.(?:jumpTo|createId)|config\.getModuleConfig|IO\.\w+)$/

/** Packages that need files, processes or native code, and those of servers that have not been seen to run in isolates. */
const refusedPackages =
  /^(?:mongodb|mongoose|knex|sqlite3|better-sqlite3|mysql|mssql|oracledb|redis|request|request-promise|puppeteer|playwright|sharp|bcrypt|canvas|xlsx|aws-sdk|googleapis|botpress|bluebird-retry)(?:\/|$)/

/** A script of the project: a module whose default export is the original’s script as a function. */
export interface Converted {
  /** Path in the project. */
  path: string
  text: string
  packages: string[]
  /** Whether it runs here. */
  runs: boolean
}

/** Ids of the actions of a bot, by the names that instructions use. */
export function actionIdsOf({ actions }: V12Bot): Map<string, string> {
  const ids = new Ids(60)
  return new Map([...actions.keys()].map((name) => [name, ids.make(name.replaceAll('-', '_'), 'action')]))
}

/** Wraps a script with the names that v12 gives to it. A script that cannot run here throws, which the report names. */
export async function convertScript(
  { report }: V12Bot,
  { file, source }: Script,
  path: string,
  names: string,
): Promise<Converted> {
  const imports = await importsOf(source, names)
  const required = (imports ?? []).flatMap(({ path, isRequired }) => (isRequired ? [path] : []))
  const refused = (imports ?? []).flatMap(({ path, isRequired }) => (isRequired && isUsable(path) ? [] : [path]))
  const used = [
    ...new Set([...source.matchAll(/\bbp\s*\.\s*(\w+)\s*\.\s*(\w+)/g)].map(([, room, name]) => `${room}.${name}`)),
  ]
  const missing = used.filter((name) => !members.test(name))
  for (const name of missing)
    report.lost(file, undefined, `bp.${name}`, 'Use `client` of this platform: docs/writing-a-bot.md')
  if (used.includes('config.getModuleConfig')) {
    const remedy = 'Set the secret CONFIG_<NAME> to the JSON of the configuration of the module of that name'
    report.differs(file, undefined, 'bp.config.getModuleConfig', remedy)
  }
  const parses = imports !== undefined
  if (!parses) report.lost(file, undefined, 'the script does not parse', 'Correct it, and import again')
  for (const name of refused) {
    report.lost(
      file,
      undefined,
      `${required.includes(name) ? 'require' : 'import'}('${name}')`,
      'It does not run in isolates: use `fetch`, tables and files of the bot, or another package (docs/libraries.md)',
    )
  }
  if (!parses || refused.length > 0) {
    const reason = parses ? `it needs ${refused.join(', ')}` : 'it does not parse'
    const message = JSON.stringify(`${file} was not carried: ${reason}`)
    // The original stays beside the call, for the author who rewrites it.
    return {
      path,
      text: `${commented(source)}\nexport default async () => {\n  throw new Error(${message})\n}\n`,
      packages: [],
      runs: false,
    }
  }
  const statements = required.map((name, index) => `import * as package_${index} from ${JSON.stringify(name)}\n`)
  const table = required.map(
    (name, index) => `  ${JSON.stringify(name)}: package_${index}.default ?? package_${index},\n`,
  )
  const require = `const packages = {\n${table.join('')}}\nconst require = (name) => packages[name]\n\n`
  const text = `${statements.join('')}${required.length > 0 ? `\n${require}` : ''}export default async ({ ${names} }) => {\n${source}\n}\n`
  return { path, text, packages: required.filter((name) => !isBuiltin(name)).map(packageName), runs: true }
}

/** Whether a name is that of a package, or a module of Node, that runs here, and no path, which could lead out of the project. */
function isUsable(name: string): boolean {
  if (isBuiltin(name)) return (findNodeModule(name)?.kind ?? 'shape') !== 'shape'
  if (refusedPackages.test(name) || !/^[@\w][\w@./-]*$/.test(name)) return false
  return !name.split('/').some((part) => part === '.' || part === '..')
}

interface Import {
  path: string
  /** By a call of `require`, which is the only way of v12. */
  isRequired: boolean
}

/**
 * The imports that the bundler would read for a script, in the order of the text: one that a search of the text overlooks
 * would have it read a file of this machine, and put it into the bot.
 *
 * @returns undefined when the script does not parse
 */
async function importsOf(source: string, names: string): Promise<Import[] | undefined> {
  const found = new Map<string, Import>()
  const add = (path: string, kind: string) => {
    const isRequired = kind === 'require-call' && found.get(path)?.isRequired !== false
    found.set(path, { path, isRequired })
  }
  const collect: Plugin = {
    name: 'collect',
    setup({ onResolve }) {
      onResolve({ filter: /.*/ }, ({ path, kind }) => {
        if (kind === 'entry-point') return undefined
        add(path, kind)
        return { path, external: true }
      })
    },
  }
  const contents = `export default async ({ ${names} }) => {\n${source}\n}\n`
  const options = { bundle: true, write: false, format: 'esm', metafile: true, logLevel: 'silent' } as const
  const built = await build({ ...options, plugins: [collect], stdin: { contents, loader: 'js' } }).catch(
    () => undefined,
  )
  if (!built) return undefined
  // Patterns of several files, `import('./' + name + '.json')`, are not resolved one by one.
  const others = Object.values(built.metafile.inputs).flatMap(({ imports }) => imports)
  for (const { path, kind } of others) if (path !== '<runtime>' && !found.has(path)) add(path, kind)
  return [...found.values()].toSorted((a, b) => source.indexOf(a.path) - source.indexOf(b.path))
}

function packageName(name: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]
}

function commented(source: string): string {
  return source
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `// ${line}`)
    .join('\n')
}

/** The card after an action: it takes the variables that the action has changed, and follows `bp.dialog.jumpTo`. */
export function applyAction({ bot, flowIds, returning }: Conversion, name: string): NewCard {
  const source = bot.actions.get(name)?.source ?? ''
  const code =
    'const { jump, ...changed } = temp.v12\n' +
    'for (const [name, part] of Object.entries({ temp, session, user, bot, workflow })) {\n' +
    '  for (const key of Object.keys(part)) delete part[key]\n' +
    '  Object.assign(part, changed[name])\n' +
    '}'
  if (!/\bjumpTo\b/.test(source)) return { type: 'code', code }
  const ports: Record<string, string> = {}
  for (const [flow, id] of flowIds) {
    const isNamed = source.includes(flow) || source.includes(`'${flow.replace(/\.flow\.json$/, '')}'`)
    if (isNamed && !returning.has(flow)) ports[flow] = `${id}/`
  }
  return { type: 'code', code: `${code}\nreturn jump`, ports }
}

/** The elements of content that scripts render by their id. */
export function contentOf({ content, actions, hooks }: V12Bot): Record<string, { type: string; fields: object }> {
  const sources = [...actions.values(), ...hooks.map(({ script }) => script)].map(({ source }) => source).join('\n')
  const used = [...content].filter(([id]) => id.length > 2 && sources.includes(id))
  return Object.fromEntries(used.map(([id, { type, fields }]) => [id, { type, fields }]))
}

/** The hosts in addresses that scripts name. They are granted, and the report names them. */
export function hostsOf({ actions, hooks, report }: V12Bot): string[] {
  const scripts = new Set([...actions.values(), ...hooks.map(({ script }) => script)])
  const named = new Set<string>()
  for (const { file, source } of scripts) {
    for (const [, host = ''] of source.matchAll(/\bhttps?:\/\/((?:[a-z\d-]+\.)+[a-z]{2,})(?=[:/?#'"`\s])/gi)) {
      const name = host.toLowerCase()
      if (!named.has(name)) report.differs(file, undefined, `requests to ${name}`, 'Granted in isobot.json: check them')
      named.add(name)
    }
  }
  return [...named].slice(0, 50)
}
