import { closedObject, compile, describeErrors, type Validator } from '../schema.ts'
import { cards, type CardType } from './cards.ts'
import { storedLength } from '../json/exponents.ts'
import { flowEvents } from '../models/event.ts'
import { firstOccurrence } from '../recurrence.ts'
import { readDestination } from './destinations.ts'
import { destination, scopes, variable } from './fields.ts'
import {
  flow as flowSchema,
  maxCards,
  maxCharacters,
  maxCronTriggers,
  maxFlows,
  type Card,
  type Flow,
  type FlowNode,
  type Trigger,
} from './flow.ts'

/** A fault of the flows of an upload, and the place of it. */
export interface FlowProblem {
  problem: string
  flow?: string
  node?: string
  card?: string
  trigger?: string
  field?: string
}

/** A part of a flow: the flow, a node, a card or trigger of it, and a field, as far as it is known. */
export type FlowPlace = Omit<FlowProblem, 'problem'>

/** An upload whose flows have faults. */
export class InvalidFlowsError extends Error {
  override name = 'InvalidFlowsError'
  readonly problems: readonly FlowProblem[]
  /** The first of them. */
  readonly first: FlowProblem

  constructor(problems: FlowProblem[]) {
    const listed = problems.slice(0, listedProblems).map((each) => `${placeOf(each)}${each.problem}`)
    const others = problems.length - listed.length
    super(listed.join('; ') + (others > 0 ? `; and ${others} more` : ''))
    this.problems = problems
    this.first = problems[0]!
  }
}

/** Upper bound of the faults that an error lists. */
const listedProblems = 5

const isFlow = compile(flowSchema, 'closedBody')

/** The schema of each type of card, with the fields that all cards have. */
export const cardSchemas = Object.entries(cards).map(([type, { description, required, optional }]) => {
  const ports = { type: 'object', maxProperties: 200, additionalProperties: destination } as const
  const schema = closedObject({ id: { type: 'string' }, type: { const: type }, ...required }, { ports, ...optional })
  return { type: type as CardType, description, schema }
})

const isCardOf = Object.fromEntries(
  cardSchemas.map(({ type, schema }) => [type, compile(schema, 'closedBody')]),
) as unknown as Record<CardType, Validator<unknown>>

/**
 * Examines the flows of an upload: their schemas, ids, destinations, ports and limits. Expressions are examined where
 * they are compiled.
 *
 * @param flows as JSON; functions are expressions
 * @throws InvalidFlowsError
 */
export function checkFlows(flows: unknown): asserts flows is Flow[] {
  if (!Array.isArray(flows)) throw new InvalidFlowsError([{ problem: 'flows must be a list' }])
  if (flows.length > maxFlows) throw tooMany(flows.length, maxFlows, 'flows')
  const characters = storedLength(JSON.stringify(flows))
  if (characters > maxCharacters) throw tooMany(characters, maxCharacters, 'characters of JSON')
  const problems: FlowProblem[] = []
  for (const [index, each] of flows.entries()) problems.push(...schemaProblems(each, index))
  if (problems.length > 0) throw new InvalidFlowsError(problems)
  const valid = flows as Flow[]
  const count = valid.flatMap(({ nodes }) => nodes).reduce((sum, node) => sum + node.cards.length, 0)
  if (count > maxCards) throw tooMany(count, maxCards, 'cards')
  const schedules = valid.flatMap(({ triggers = [] }) => triggers).filter(({ cron }) => cron !== undefined).length
  if (schedules > maxCronTriggers) throw tooMany(schedules, maxCronTriggers, 'cron triggers')
  problems.push(...duplicates(valid, 'flow', {}))
  const nodesOf = new Map(valid.map(({ id, nodes }) => [id, new Set(nodes.map((node) => node.id))]))
  for (const flow of valid) problems.push(...flowProblems(flow, nodesOf))
  if (problems.length > 0) throw new InvalidFlowsError(problems)
}

function tooMany(count: number, max: number, what: string): InvalidFlowsError {
  return new InvalidFlowsError([{ problem: `the flows of a bot have at most ${max} ${what}, and these have ${count}` }])
}

/** The faults of a flow by its schema, and of its cards by theirs. */
function schemaProblems(flow: unknown, index: number): FlowProblem[] {
  if (isFlow(flow)) {
    const { id, nodes } = flow as Flow
    return nodes.flatMap((node) => node.cards.flatMap((card) => cardProblems(card, { flow: id, node: node.id })))
  }
  const [error] = isFlow.errors ?? []
  const [, part, at, cardsPart, cardAt, ...rest] = (error?.instancePath ?? '').split('/')
  const place: FlowPlace = { flow: nameOf(flow, index) }
  const node = part === 'nodes' ? itemAt((flow as Flow).nodes, at) : undefined
  if (node === undefined) return [{ ...place, problem: describeErrors(isFlow) }]
  const card = cardsPart === 'cards' ? itemAt((node as FlowNode).cards, cardAt) : undefined
  const field = card === undefined ? cardsPart : rest.join('.')
  const where = { ...place, node: nameOf(node, at), ...(card !== undefined && { card: nameOf(card, cardAt) }) }
  return [{ ...where, ...(field && { field }), problem: problemOf(isFlow) }]
}

function cardProblems(card: Card, place: FlowPlace): FlowProblem[] {
  const where = { ...place, card: card.id }
  if (!isCardType(card.type)) {
    const types = Object.keys(cards).join(', ')
    return [{ ...where, field: 'type', problem: `'${card.type}' is not a type of cards; these are ${types}` }]
  }
  const isCard = isCardOf[card.type]
  if (isCard(card)) return []
  const error = decisive(isCard)
  const field = error?.instancePath.slice(1).replaceAll('/', '.')
  return [{ ...where, ...(field && { field }), problem: problemOf(isCard) }]
}

function isCardType(type: string): type is CardType {
  return Object.hasOwn(cards, type)
}

/** The error that says most: that of a whole choice between alternatives, which comes after those of the alternatives. */
function decisive({ errors }: Validator<unknown>) {
  return errors?.find(({ keyword }) => keyword === 'anyOf') ?? errors?.[0]
}

function problemOf(validate: Validator<unknown>): string {
  const error = decisive(validate)
  const title: unknown = error?.parentSchema?.['title']
  if (error?.keyword === 'anyOf' && typeof title === 'string') return `must be ${title}`
  if (error?.keyword === 'pattern' && error.schema === variable.pattern) {
    return `must be a variable, as user.name, whose scope is one of ${scopes.join(', ')}`
  }
  return describeErrors(Object.assign(() => false, { errors: error && [{ ...error, instancePath: '' }] }) as never)
}

function itemAt(list: unknown, index: string | undefined): unknown {
  return Array.isArray(list) ? (list[Number(index)] as unknown) : undefined
}

function nameOf(item: unknown, index: number | string | undefined): string {
  const id = typeof item === 'object' && item !== null ? (item as { id?: unknown }).id : undefined
  return typeof id === 'string' ? id.slice(0, 64) : `#${index}`
}

function flowProblems(flow: Flow, nodesOf: Map<string, Set<string>>): FlowProblem[] {
  const place = { flow: flow.id }
  const own = nodesOf.get(flow.id)!
  const to = (target: string | null | undefined, where: FlowPlace): FlowProblem[] => {
    if (target === null || target === undefined) return []
    const { flow: other, node } = readDestination(target)
    const nodes = other === undefined ? own : nodesOf.get(other)
    if (!nodes) return [{ ...where, problem: `there is no flow '${other}'` }]
    return node === undefined || nodes.has(node)
      ? []
      : [{ ...where, problem: `there is no node '${node}'${other === undefined ? '' : ` in flow '${other}'`}` }]
  }
  return [
    ...duplicates(flow.nodes, 'node', place),
    ...(own.has(flow.start) ? [] : [{ ...place, field: 'start', problem: `there is no node '${flow.start}'` }]),
    ...to(flow.onError, { ...place, field: 'onError' }),
    ...to(flow.timeout?.to, { ...place, field: 'timeout.to' }),
    ...(flow.always ?? []).flatMap((route, index) => to(route.to, { ...place, field: `always.${index}.to` })),
    ...duplicates(flow.triggers ?? [], 'trigger', place),
    ...(flow.triggers ?? []).flatMap((trigger) => triggerProblems(trigger, { ...place, trigger: trigger.id })),
    ...flow.nodes.flatMap((node) => {
      const where = { ...place, node: node.id }
      return [
        ...duplicates(node.cards, 'card', where),
        ...to(node.next, { ...where, field: 'next' }),
        ...node.cards.flatMap((card) => linkProblems(card, { ...where, card: card.id }, to, nodesOf)),
      ]
    }),
  ]
}

function triggerProblems({ event, cron, integration }: Trigger, place: FlowPlace): FlowProblem[] {
  if ((event === undefined) === (cron === undefined)) {
    return [{ ...place, problem: 'a trigger has either the field event or the field cron' }]
  }
  if (event !== undefined) {
    const isOwn = flowEvents.includes(event)
    return isOwn ? [{ ...place, field: 'event', problem: `events of type '${event}' start no flow` }] : []
  }
  if (integration !== undefined) {
    return [{ ...place, field: 'integration', problem: 'a cron trigger belongs to no integration' }]
  }
  try {
    firstOccurrence(cron!, new Date())
    return []
  } catch (error) {
    return [{ ...place, field: 'cron', problem: (error as Error).message }]
  }
}

function linkProblems(
  card: Card,
  place: FlowPlace,
  to: (target: string | null | undefined, where: FlowPlace) => FlowProblem[],
  nodesOf: Map<string, Set<string>>,
): FlowProblem[] {
  const known = portsOf(card)
  const problems = Object.entries(card.ports ?? {}).flatMap(([port, target]) => {
    const where = { ...place, field: `ports.${port}` }
    if (known && !known.has(port)) {
      const names = [...known].join(', ') || 'none'
      return [{ ...where, problem: `the card has no port '${port}'; its ports: ${names}` }]
    }
    return to(target, where)
  })
  if (card.type === 'jump') problems.push(...to(card['to'] as string | null, { ...place, field: 'to' }))
  const called = card['flow'] as string
  if (card.type === 'call' && !nodesOf.has(called)) {
    problems.push({ ...place, field: 'flow', problem: `there is no flow '${called}'` })
  }
  return problems
}

/** The names of a card's ports; undefined when they are known only while the flow runs. */
export function portsOf(card: Card): Set<string> | undefined {
  const { ports } = cards[card.type as CardType]
  if (ports === 'declared') return undefined
  const { options, cases } = card as { options?: unknown; cases?: { port: string }[] }
  if (options !== undefined && !Array.isArray(options)) return undefined
  const own = (options as { value: string }[] | undefined)?.map((option) => option.value) ?? []
  return new Set([...own, ...(cases ?? []).map(({ port }) => port), ...ports])
}

function duplicates(
  items: { id: string }[],
  what: 'flow' | 'node' | 'card' | 'trigger',
  place: FlowPlace,
): FlowProblem[] {
  const seen = new Set<string>()
  return items.flatMap(({ id }) => {
    if (!seen.has(id)) {
      seen.add(id)
      return []
    }
    return [{ ...place, problem: `there are two ${what}s with the id '${id}'` }]
  })
}

/** A place in words, before a problem: `flow 'main', node 'ask', card 'age', field 'variable': `. */
export function placeOf({ flow, node, card, trigger, field }: FlowPlace): string {
  const parts = Object.entries({ flow, node, card, trigger, field }).flatMap(([kind, name]) =>
    name === undefined ? [] : [`${kind} '${name}'`],
  )
  return parts.length === 0 ? '' : `${parts.join(', ')}: `
}
