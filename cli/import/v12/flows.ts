import type { Flow, FlowNode } from '#shared/flows/flow.ts'
import type { Script, V12Bot } from './bots.ts'
import { FlowBuilder, nodeIdOf, toNode, type Conversion, type NewCard } from './conversion.ts'
import { toCondition } from './expressions.ts'
import { Ids } from './ids.ts'
import { instructionCards, ownAction } from './instructions.ts'
import { toText } from './json.ts'
import { Links, readFlowTarget, returns } from './links.ts'
import { addQuestions, addQuestionsFlow } from './qna.ts'
import { addSkill, foldedSkills } from './skills.ts'
import type { V12Flow, V12Node } from './v12-flow.ts'
import { withinLimits } from './within-limits.ts'

/** Flows that run by themselves, by their file; a flow that another one calls begins by the name of its file. */
const reserved: Readonly<Record<string, string>> = {
  'main.flow.json': 'main',
  'error.flow.json': 'error',
  'timeout.flow.json': 'timeout',
  'conversation_end.flow.json': 'end',
}

export interface ConvertedFlows {
  flows: Flow[]
  conversion: Conversion
  /** Nodes that an author has drawn: all but those of skills. */
  authorNodes: number
  /** Those of them of which everything was carried. */
  wholeNodes: number
}

/** Converts the flows of a bot. A part that one flow lacks does not affect the others. */
export function convertFlows(
  bot: V12Bot,
  actionIds: Map<string, string>,
  brokenActions: ReadonlySet<string>,
  endings: readonly Script[] = [],
): ConvertedFlows {
  const conversion = prepare(bot, actionIds, brokenActions, endings)
  const flows: Flow[] = []
  for (const flow of bot.flows.values()) {
    const id = conversion.flowIds.get(flow.name)
    if (id === undefined) continue
    flows.push(convertFlow(conversion, flow, id))
  }
  if (endings.length > 0 && !bot.flows.has('conversation_end.flow.json')) {
    flows.push({ id: 'end', name: 'conversation_end', start: endingId, nodes: [endingNode(conversion, null)] })
  }
  const questions = addQuestionsFlow(conversion)
  if (questions) flows.push(questions)
  const kept = withinLimits(bot, flows)
  const drawn = [...bot.flows.values()].filter(({ isSkill }) => !isSkill)
  const nodes = drawn.flatMap(({ file, nodes: own }) => own.map(({ name }) => ({ file, name })))
  const whole = nodes.filter(({ file, name }) => bot.report.isWhole(file, name))
  return { flows: kept, conversion, authorNodes: nodes.length, wholeNodes: whole.length }
}

function prepare(
  bot: V12Bot,
  actionIds: Map<string, string>,
  brokenActions: ReadonlySet<string>,
  endings: readonly Script[],
): Conversion {
  const folded = new Set(
    [...bot.flows.values()].flatMap(({ nodes }) =>
      nodes.flatMap(({ type, skill, flow }) => (type === 'skill-call' && foldedSkills.has(skill) ? [flow] : [])),
    ),
  )
  const ids = new Ids(48)
  const flowIds = new Map<string, string>()
  for (const [file, id] of Object.entries(reserved)) if (bot.flows.has(file)) flowIds.set(file, ids.make(id))
  for (const id of Object.values(reserved)) if (![...flowIds.values()].includes(id)) ids.make(id)
  const nodeIds = new Map<string, Map<string, string>>()
  const returning = new Set<string>()
  const returnTargets = new Set<string>()
  for (const flow of bot.flows.values()) {
    if (folded.has(flow.name) || isUnusedSkill(bot, flow)) continue
    if (!flowIds.has(flow.name)) flowIds.set(flow.name, ids.make(flow.name.replace(/\.flow\.json$/, ''), 'flow'))
    const nodes = new Ids(48)
    nodeIds.set(flow.name, new Map(flow.nodes.map(({ name }) => [name, nodes.make(name, 'node')])))
    const isReserved = Object.hasOwn(reserved, flow.name)
    if (!isReserved && (flow.isSkill || returns(flow))) returning.add(flow.name)
    for (const { target } of flow.nodes.flatMap(({ next }) => next)) {
      if (/^#+./.test(target) && target !== '##') returnTargets.add(target)
    }
  }
  const end = bot.flows.get('conversation_end.flow.json')
  const hasEnd = endings.length > 0 || (end?.nodes.some(({ onEnter }) => onEnter.length > 0) ?? false)
  const conversion: Conversion = {
    bot,
    flowIds,
    nodeIds,
    returning,
    unwinds: new Set(),
    returnTargets,
    hasEnd,
    endings,
    actionIds,
    brokenActions,
    hosts: new Set(),
    seconds: secondsOf(bot),
  }
  findUnwinds(conversion)
  return conversion
}

/** A flow of a skill that no node calls, left behind by the editor. */
function isUnusedSkill(bot: V12Bot, { isSkill, name }: V12Flow): boolean {
  return (
    isSkill &&
    ![...bot.flows.values()].some(({ nodes }) => nodes.some(({ flow, type }) => type === 'skill-call' && flow === name))
  )
}

/** Notes where called flows continue without a return, before their callers are converted. */
function findUnwinds(conversion: Conversion): void {
  const { bot, returning, flowIds, unwinds } = conversion
  for (const name of returning) {
    const { nodes, catchAll } = bot.flows.get(name)!
    for (const { target } of [...nodes.flatMap(({ next }) => next), ...catchAll.next]) {
      const other = readFlowTarget(target)
      const id = other && flowIds.get(other.flow)
      if (other === undefined || id === undefined || returning.has(other.flow)) continue
      const start =
        other.flow === 'main.flow.json' ? nodeIdOf(conversion, other.flow, bot.flows.get(other.flow)!.start) : ''
      const node = other.node === undefined ? undefined : nodeIdOf(conversion, other.flow, other.node)
      unwinds.add(`${id}/${node ?? start ?? ''}`)
    }
  }
}

/** How long the bot waits for an answer, for instance `5m`. */
function secondsOf({ config }: V12Bot): number | undefined {
  const dialog = config['dialog']
  const given = toText(
    typeof dialog === 'object' && dialog !== null ? (dialog as { timeoutInterval?: unknown }).timeoutInterval : '',
  )
  const [, count, unit] = /^(\d{1,6})\s*(s|m|h|d)/.exec(given) ?? []
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }[unit ?? '']
  if (count === undefined || seconds === undefined) return undefined
  return Math.max(1, Math.min(Number(count) * seconds, 366 * 86_400))
}

function convertFlow(conversion: Conversion, flow: V12Flow, id: string): Flow {
  const names = conversion.nodeIds.get(flow.name)!
  const ids = new Ids()
  for (const each of names.values()) ids.make(each)
  const builder = new FlowBuilder(id, flow, ids)
  const links = new Links(conversion, builder)
  for (const node of flow.nodes) addNode(conversion, links, node, names.get(node.name)!)
  const start = names.get(flow.start)!
  const first =
    id === 'main'
      ? addQuestions(conversion, builder, start)
      : id === 'end'
        ? addEnding(conversion, builder, start)
        : start
  const timeoutNode = names.get('timeout')
  const always = flow.catchAll.next.flatMap(({ condition, target }) => {
    const place = { file: flow.file, node: 'catchAll' }
    const to = links.to(target, undefined, null)
    const { $ } = toCondition(condition === '' ? 'true' : condition, place, conversion.bot.report)
    // In the original, a route to the present node does not apply.
    const isOwn = names.get(target)
    return [{ if: { $: isOwn === undefined ? $ : `event.state.context.currentNode !== '${isOwn}' && (${$})` }, to }]
  })
  const { seconds } = conversion
  const timeout = { seconds: seconds ?? 1500, ...(timeoutNode !== undefined && { to: timeoutNode }) }
  return {
    id,
    name: flow.name.replace(/\.flow\.json$/, '').slice(0, 200),
    start: first,
    ...((seconds !== undefined || timeoutNode !== undefined) && { timeout }),
    ...(always.length > 0 && { always }),
    nodes: builder.nodes,
  }
}

const endingId = 'v12_before_end'

/** Adds the node that runs the scripts of the end of a conversation. @returns the id of the first node */
function addEnding(conversion: Conversion, builder: FlowBuilder, start: string): string {
  if (conversion.endings.length === 0) return start
  builder.nodes.unshift(endingNode(conversion, start))
  return builder.ids.make(endingId)
}

function endingNode(conversion: Conversion, next: string | null): FlowNode {
  const cards = conversion.endings.flatMap(({ file }) =>
    ownAction(conversion, file, conversion.actionIds.get(file)!, {}, { file }),
  )
  return toNode(endingId, 'before_conversation_end', cards, next)
}

function addNode(conversion: Conversion, links: Links, node: V12Node, id: string): void {
  const { source: flow } = links.builder
  const { bot } = conversion
  const place = { file: flow.file, node: node.name }
  if (node.type === 'skill-call' && foldedSkills.has(node.skill)) {
    const data = bot.flows.get(node.flow)?.skillData
    if (!data)
      bot.report.lost(flow.file, node.name, `the skill ${node.skill}: its flow ${node.flow} is missing`, 'Add its card')
    addSkill(conversion, links, node, id, data ?? {})
    return
  }
  const entering = instructionCards(conversion, node.onEnter, place)
  const answer: NewCard = { type: 'capture', variable: 'temp.v12_answer' }
  const waits = node.onReceive !== undefined
  const receiving = waits
    ? [answer, ...instructionCards(conversion, [...flow.catchAll.onReceive, ...node.onReceive!], place)]
    : []
  const after = links.transitionsOf(node.name)
  if (node.type === 'skill-call') {
    // A skill of the bot's own: its flow is called, and the transitions follow.
    const routeId = after ?? `${id.slice(0, 58)}__next`
    links.builder.add(toNode(id, node.name, entering, links.to(node.flow, node.name, routeId)))
    const routed = links.route(node.next, node.name, routeId)
    links.builder.add(toNode(routeId, undefined, routed.cards, routed.next))
    return
  }
  // Routes of the flow apply to each node; where a node waits, the flow's `always` has them.
  const general = waits ? [] : flow.catchAll.next.filter(({ target }) => target !== node.name)
  const routed = links.route([...general, ...node.next], node.name, after ?? null)
  if (after === undefined) {
    links.builder.add(toNode(id, node.name, [...entering, ...receiving, ...routed.cards], routed.next))
    return
  }
  links.builder.add(toNode(id, node.name, [...entering, ...receiving], after))
  links.builder.add(toNode(after, undefined, routed.cards, routed.next))
}
