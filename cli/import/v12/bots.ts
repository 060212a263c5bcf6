import { Report } from './report.ts'
import { parseJson, toFields, toList, toText, toTexts, type Fields } from './json.ts'
import type { Source } from './source.ts'
import { readFlow, type V12Flow } from './v12-flow.ts'

/** A script of the original, by its name without folder and ending. */
export interface Script {
  file: string
  source: string
}

/** A bot of an export, read but not converted. */
export interface V12Bot {
  /** The name of its folder, or of its configuration. */
  id: string
  name: string
  config: Fields
  language: string
  /** By path below `flows/`, for instance `skills/choice-1.flow.json`. */
  flows: Map<string, V12Flow>
  /** Positions of nodes by flow and id. */
  positions: Map<string, Map<string, { x: number; y: number }>>
  /** Content elements by id, with the name of their type. */
  content: Map<string, { type: string; file: string; fields: Fields }>
  intents: { file: string; fields: Fields }[]
  qna: { file: string; fields: Fields }[]
  /** By the name that instructions use, for instance `folder/name`. */
  actions: Map<string, Script>
  hooks: { point: string; script: Script }[]
  report: Report
}

/** Scripts of the modules of v12, which every data folder has. */
const modulesOf =
  /^(?:builtin|basic-skills|analytics|hitl|hitlnext|nlu|ndu|qna|testing|extensions|channel-[^/]+|misunderstood|broadcast|[^/]*\/\.)/

/**
 * Finds the bots of an export: an archive or folder of one bot, or a data folder with several and their shared scripts.
 */
export function findBots({ files, others, refused }: Source): V12Bot[] {
  const roots = rootsIn([...files.keys()])
  return roots.map((root) => {
    const report = new Report()
    const under = (folder: string) =>
      [...files].flatMap(([path, text]) =>
        path.startsWith(`${root}${folder}/`) ? [{ file: path.slice(root.length), path, text }] : [],
      )
    const read = (file: string, text: string): unknown => {
      const remedy = 'Correct the file, and import again'
      try {
        return parseJson(text, (name) => report.lost(file, undefined, `the name ${name}`, 'Choose another name'))
      } catch (error) {
        report.lost(file, undefined, `the file: ${(error as Error).message}`, remedy)
        return undefined
      }
    }
    const list = (folder: string) =>
      under(folder)
        .filter(({ file }) => file.endsWith('.json'))
        .flatMap(({ file, text }) => {
          const value = read(file, text)
          return value === undefined ? [] : [{ file, value }]
        })
    for (const { file, reason } of refused) {
      if (file === '' || file.startsWith(root))
        report.lost(file.slice(root.length), undefined, `the file was not read: ${reason}`, 'Correct the export')
    }
    const config = toFields(read('bot.config.json', files.get(`${root}bot.config.json`) ?? '{}'))
    const folder = root.split('/').at(-2) ?? ''
    const id = toText(config['id']) || folder || 'bot'
    const bot: V12Bot = {
      id,
      name: toText(config['name']) || id,
      config,
      language: toText(config['defaultLanguage']) || 'en',
      flows: new Map(),
      positions: new Map(),
      content: new Map(),
      intents: list('intents').map(({ file, value }) => ({ file, fields: toFields(value) })),
      qna: list('qna').map(({ file, value }) => ({ file, fields: toFields(value) })),
      actions: new Map(),
      hooks: [],
      report,
    }
    for (const { file, value } of list('flows')) {
      const name = file.slice('flows/'.length)
      if (name.endsWith('.flow.json')) {
        const flow = readFlow(name, value, report)
        if (flow) bot.flows.set(name, flow)
      } else if (name.endsWith('.ui.json')) {
        bot.positions.set(name.replace(/\.ui\.json$/, '.flow.json'), positionsOf(value))
      }
    }
    for (const { file, value } of list('content-elements')) readContent(bot, file, value)
    readScripts(bot, files, root)
    reportOthers(
      bot,
      others.filter((path) => path.startsWith(root)).map((path) => path.slice(root.length)),
      list,
    )
    return bot
  })
}

/** The folders of bots, with a slash at their end; those of templates within installed modules are none. */
function rootsIn(paths: readonly string[]): string[] {
  const configured = paths.filter((path) => /(?:^|\/)bot\.config\.json$/.test(path))
  const flows = paths.filter((path) => /(?:^|\/)flows\/main\.flow\.json$/.test(path))
  const roots = [
    ...configured.map((path) => path.slice(0, -'bot.config.json'.length)),
    ...flows.map((path) => path.slice(0, -'flows/main.flow.json'.length)),
  ]
  // A configuration without flows is left over from something else.
  const hasFlows = (root: string) => paths.some((path) => path.startsWith(`${root}flows/`))
  return [...new Set(roots)].filter(hasFlows).toSorted()
}

function positionsOf(value: unknown): Map<string, { x: number; y: number }> {
  const nodes = toList(toFields(value)['nodes']).map(toFields)
  return new Map(
    nodes.flatMap(({ id, position }) => {
      const { x, y } = toFields(position)
      return Number.isFinite(x) && Number.isFinite(y) ? [[toText(id), { x: x as number, y: y as number }] as const] : []
    }),
  )
}

function readContent(bot: V12Bot, file: string, value: unknown): void {
  const type = file.slice('content-elements/'.length).replace(/\.json$/, '')
  for (const element of toList(value).map(toFields)) {
    const id = toText(element['id'])
    if (id !== '') bot.content.set(id, { type, file, fields: toFields(element['formData']) })
  }
}

/** Own scripts win over those that all bots of a data folder share. */
function readScripts(bot: V12Bot, files: Source['files'], root: string): void {
  const shared = /^(.*\/)?bots\/[^/]+\/$/.exec(root)
  const folders = shared ? [root, `${shared[1] ?? ''}global/`] : [root]
  for (const folder of folders) {
    for (const [path, source] of files) {
      if (!path.startsWith(folder) || !path.endsWith('.js')) continue
      const file = path.slice(folder.length)
      const [, kind, name] = /^(actions|hooks)\/(.+)\.js$/.exec(file) ?? []
      if (kind === undefined || name === undefined || /(?:^|\/)\./.test(name)) continue
      const shown = folder === root ? file : `global/${file}`
      if (kind === 'actions') {
        if (modulesOf.test(name) || bot.actions.has(name)) continue
        bot.actions.set(name, { file: shown, source: source.replace(/^\uFEFF/, '') })
      } else {
        const [point = '', ...rest] = name.split('/')
        if (rest.length === 0 || modulesOf.test(`${rest.join('/')}/`.replace(/\/$/, ''))) continue
        bot.hooks.push({ point, script: { file: shown, source: source.replace(/^\uFEFF/, '') } })
      }
    }
  }
  bot.hooks.sort((a, b) => (a.script.file < b.script.file ? -1 : 1))
}

function reportOthers(
  { config, report }: V12Bot,
  others: string[],
  list: (folder: string) => { file: string }[],
): void {
  for (const { file } of list('entities')) {
    report.lost(file, undefined, 'an entity', 'Ask for the value with a `capture` card, or find it in a `code` card')
  }
  if (others.some((file) => file.startsWith('media/'))) {
    report.lost(
      'media/',
      undefined,
      'the files of the bot',
      'Upload them as files of the bot, and set the variable MEDIA_URL to their address',
    )
  }
  for (const [channel, settings] of Object.entries(toFields(toFields(config['messaging'])['channels']))) {
    if (toFields(settings)['enabled'] === true) {
      report.lost('bot.config.json', undefined, `the channel ${channel}`, 'Install an integration for it')
    }
  }
  if (config['oneflow'] === true) {
    report.lost(
      'bot.config.json',
      undefined,
      'oneflow: triggers of the NDU',
      'Draw the conversation as nodes of flow `main`',
    )
  }
  for (const name of toTexts(toFields(config['imports'])['contentTypes'])) {
    if (!name.startsWith('builtin_') && name !== 'dropdown') {
      report.differs(
        'bot.config.json',
        undefined,
        `the content type ${name}`,
        'Its elements are carried by their common fields',
      )
    }
  }
}
