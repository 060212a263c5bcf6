import { readFile } from 'node:fs/promises'
import type { Flow } from '#shared/flows/flow.ts'
import { permissions } from '#shared/models/bot-code.ts'
import type { V12Bot } from './bots.ts'
import { actionIdsOf, contentOf, convertScript, hostsOf, type Converted } from './code.ts'
import { convertFlows, type ConvertedFlows } from './flows.ts'
import { Ids } from './ids.ts'
import { intentsOf } from './intents.ts'
import { questionsOf } from './qna.ts'
import { writeReport } from './report.ts'

/** The project of a bot, in memory. */
export interface ImportedProject {
  /** The id of the bot in the original. */
  id: string
  name: string
  /** Contents by path in the project. */
  files: Map<string, string>
  flows: Flow[]
  totals: { flows: number; authorNodes: number; wholeNodes: number; lost: number; differs: number }
}

const templates = new URL('../../../templates/v12/', import.meta.url)

/** Hooks of v12 that are hooks here. */
const points: Readonly<Record<string, string>> = {
  before_incoming_middleware: 'beforeIncomingMessage',
  after_incoming_middleware: 'afterIncomingMessage',
}

/** The hook whose scripts run at the beginning of flow `end`. */
const endingPoint = 'before_conversation_end'

export async function convertBot(bot: V12Bot): Promise<ImportedProject> {
  const { report } = bot
  const { size } = bot.actions
  // The end of a conversation is a flow, which runs these scripts as actions.
  const endings = bot.hooks.filter(({ point }) => point === endingPoint).map(({ script }) => script)
  for (const script of endings) bot.actions.set(script.file, script)
  const actionIds = actionIdsOf(bot)
  const actions = await Promise.all(
    [...bot.actions].map(async ([name, script]) => {
      const id = actionIds.get(name)!
      const path = `actions/${id}.js`
      return {
        name,
        id,
        converted: await convertScript(
          bot,
          script,
          path,
          'bp, event, user, session, temp, bot, workflow, args, process',
        ),
      }
    }),
  )
  const hooks = await convertHooks(bot)
  const broken = new Set(actions.flatMap(({ name, converted: { runs } }) => (runs ? [] : [name])))
  const converted = convertFlows(bot, actionIds, broken, endings)
  const files = new Map<string, string>()
  for (const flow of converted.flows) {
    files.set(`flows/${flow.id}.json`, toJson(flow))
    const layout = layoutOf(bot, converted, flow)
    if (Object.keys(layout).length > 0) files.set(`flows/${flow.id}.layout.json`, toJson(layout))
  }
  for (const { path, text } of [...actions, ...hooks].map((each) => each.converted)) files.set(path, text)
  for (const name of ['v12.ts', 'content.ts', 'matcher.ts']) {
    files.set(`v12/${name}`, await readFile(new URL(name, templates), 'utf8'))
  }
  files.set('v12/intents.json', toJson(intentsOf(bot)))
  files.set('v12/content.json', toJson(contentOf(bot)))
  files.set('bot.ts', writeModule(bot, actions, hooks))
  const hosts = [...new Set([...converted.conversion.hosts, ...hostsOf(bot)])].toSorted()
  const { maxItems } = permissions.properties.net
  const net = hosts.slice(0, maxItems)
  for (const host of hosts.slice(maxItems)) {
    report.lost('isobot.json', undefined, `the host ${host}`, `A bot is granted at most ${maxItems} hosts`)
  }
  files.set(
    'isobot.json',
    toJson({ name: bot.name.slice(0, 100), entry: 'bot.ts', ...(net.length > 0 && { permissions: { net } }) }),
  )
  const packages = [...new Set([...actions, ...hooks].flatMap((each) => each.converted.packages))].toSorted()
  if (packages.length > 0) {
    const dependencies = Object.fromEntries(packages.map((name) => [name, '*']))
    files.set('package.json', toJson({ private: true, type: 'module', dependencies }))
    report.differs('actions/', undefined, `the packages ${packages.join(', ')}`, 'Run `npm install` in the project')
  }
  const totals = {
    flows: converted.flows.length,
    authorNodes: converted.authorNodes,
    wholeNodes: converted.wholeNodes,
    lost: report.count('lost'),
    differs: report.count('differs'),
  }
  const summary = [
    `${totals.flows} flows, ${size} actions, ${hooks.length + endings.length} hooks, ${questionsOf({ bot }).length} questions and answers`,
    `${totals.wholeNodes} of ${totals.authorNodes} nodes carried completely`,
    `${totals.lost} elements not carried, ${totals.differs} different`,
  ]
  files.set('REPORT.md', writeReport(bot.name, summary, report))
  return { id: bot.id, name: bot.name, files, flows: converted.flows, totals }
}

async function convertHooks(bot: V12Bot): Promise<{ name: string; point: string; converted: Converted }[]> {
  const ids = new Ids(60)
  const carried = bot.hooks.filter(({ point, script }) => {
    if (Object.hasOwn(points, point)) return true
    if (point === endingPoint) return false
    bot.report.lost(
      script.file,
      undefined,
      `the hook ${point}`,
      'Write it as a hook of this platform: docs/writing-a-bot.md',
    )
    return false
  })
  return Promise.all(
    carried.map(async ({ point, script }) => {
      const name = ids.make(script.file.replace(/\.js$/, '').replaceAll(/[/-]/g, '_'), 'hook')
      return {
        name,
        point: points[point]!,
        converted: await convertScript(bot, script, `hooks/${name}.js`, 'bp, event, process'),
      }
    }),
  )
}

function layoutOf(bot: V12Bot, { conversion }: ConvertedFlows, flow: Flow): Record<string, { x: number; y: number }> {
  const [name] = [...conversion.flowIds].find(([, id]) => id === flow.id) ?? []
  const source = name === undefined ? undefined : bot.flows.get(name)
  const positions = name === undefined ? undefined : bot.positions.get(name)
  if (!source || !positions) return {}
  const ids = conversion.nodeIds.get(source.name)!
  const own = source.nodes.flatMap(({ id, name: node }) => {
    const position = positions.get(id)
    return position ? [[ids.get(node)!, position] as const] : []
  })
  return Object.fromEntries(own)
}

function writeModule(bot: V12Bot, actions: { id: string }[], hooks: { name: string; point: string }[]): string {
  const scripts = (point: string) =>
    hooks
      .filter((each) => each.point === point)
      .map(({ name }) => `hook_${name}`)
      .join(', ')
  return [
    "import { createSurroundings } from './v12/v12.ts'",
    "import content from './v12/content.json'",
    "import intents from './v12/intents.json'",
    ...actions.map(({ id }) => `import action_${id} from './actions/${id}.js'`),
    ...hooks.map(({ name }) => `import hook_${name} from './hooks/${name}.js'`),
    '',
    `const v12 = createSurroundings({ intents, content, language: ${JSON.stringify(bot.language)} })`,
    '',
    'export const hooks = {',
    '  async beforeIncomingMessage(context) {',
    '    v12.prepare(context)',
    `    return v12.runHooks(context, [${scripts('beforeIncomingMessage')}])`,
    '  },',
    '  async afterIncomingMessage(context) {',
    `    return v12.runHooks(context, [${scripts('afterIncomingMessage')}])`,
    '  },',
    '}',
    '',
    'export const actions = {',
    ...actions.map(({ id }) => `  ${id}: v12.action(action_${id}),`),
    '}',
    '',
  ].join('\n')
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
