import { cards, type CardType } from '#shared/flows/cards.ts'
import { scopes } from '#shared/flows/fields.ts'
import type { Chances } from '../chaos/random.ts'
import { oddTexts } from './values.ts'

/** The part of a card's JSON Schema that fields are generated from. */
interface FieldSchema {
  type?: string | readonly string[]
  enum?: readonly unknown[]
  anyOf?: readonly FieldSchema[]
  items?: FieldSchema
  properties?: Record<string, FieldSchema>
  required?: readonly string[]
  additionalProperties?: boolean | FieldSchema
  propertyNames?: object
  pattern?: string
  title?: string
  minimum?: number
  maximum?: number
  minLength?: number
}

/** Ids that are valid, also those that a program confuses with properties of every object. */
const ids = ['a', 'b', 'c', 'd', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', '-']
const flowIds = ['main', 'error', 'timeout', 'end', ...ids]
const names = ['x', 'y', 'count', 'toString', 'valueOf', 'language', 'toJSON', 'then', 'length']

/** Expressions, many of which throw or have values that are no data. */
export const expressions: readonly string[] = [
  ['true', 'false', '1', '"text"', 'event.preview', 'temp', 'event', 'user', 'workflow', 'now', 'value', 'env'],
  ['event.preview === "1"', 'event.payload.text.length > 2', '(workflow.count ?? 0) + 1', 'temp.count > 3', '[1, 2]'],
  ['missing', 'temp.x.y', 'null', 'undefined', 'NaN', '-1', '1e9', '10n', 'Symbol("x")', '() => 1', '({ $: "1" })'],
  ['(() => { throw new Error("generated") })()', '(() => { throw null })()', 'Promise.reject(new Error("generated"))'],
  ['new Proxy({}, { get() { throw new Error("generated") } })', '({ get x() { throw new Error("generated") } })'],
  ['(() => { const circle = {}; circle.circle = circle; return circle })()', '({ toJSON() { return missing } })'],
  ['({ ["__proto__"]: { polluted: 1 } })', 'JSON.parse("{\\"__proto__\\": {\\"x\\": 1}}")', '"x".repeat(200000)'],
  ['Object.assign(event, { state: null })', 'Object.freeze(event.state)', 'delete event.state', 'event.id = {}'],
  ['({ then(resolve) { resolve("thenable") } })', '({}).constructor.constructor("return 7")()', 'globalThis.left = 1'],
  ['[{ label: "One", value: "1" }]', '[{ label: null, value: {} }]', '[null]', '({ length: 2 })', 'new Date(NaN)'],
].flat()

const codes: readonly string[] = [
  ['', 'workflow.count = (workflow.count ?? 0) + 1', 'return "left"', 'return "__proto__"', 'return {}', 'return'],
  ['throw new Error("generated")', 'throw undefined', 'missing()', 'temp.circle = temp', 'temp.big = 1n'],
  ['temp["__proto__"] = { polluted: 1 }', 'workflow.__proto__.polluted = 1; delete workflow.__proto__.polluted'],
  ['state.session = 5', 'state.user = null', 'event.state = undefined', 'event = null', 'Object.freeze(workflow)'],
  ['temp.text = "x".repeat(200_000)', 'await null; return "right"', 'logger.info(event, state)', 'delete state.bot'],
  ['await client.getConversation({ id: "none" })', 'client.createEvent({ type: "never", payload: {} }); return "left"'],
].flat()

/** Those that do not end a template early. */
const templated = expressions.filter((each) => !/}}|}$/.test(each))

/** Texts that PostgreSQL stores, and that are no template. */
const storableTexts = oddTexts.filter((text) => !/\0|{{/.test(text) && text.isWellFormed())

/** Texts of users, who read the words of cards now and then. */
export const sayings: readonly string[] = ['hi', '1', '2', 'One', 'stop', 'a@example.com', '2026-11-23', 'true', '-5']

/** Flows that the platform accepts. */
export function randomFlows(chances: Chances): object[] {
  const flows = new Set(['main', ...some(chances, flowIds, 4)])
  const nodesOf = new Map([...flows].map((flow) => [flow, [...new Set(['a', ...some(chances, ids, 5)])]]))
  return [...flows].map((id) => randomFlow(id, nodesOf, chances))
}

function randomFlow(id: string, nodesOf: Map<string, string[]>, chances: Chances): object {
  const is = (probability: number) => chances.between(0, 1) < probability
  const nodes = nodesOf.get(id)!
  const flows = [...nodesOf.keys()]
  const destination = () => {
    const flow = chances.pick(flows)
    return chances.pick([null, null, chances.pick(nodes), `${flow}/`, `${flow}/${chances.pick(nodesOf.get(flow)!)}`])
  }
  const expression = () => ({ $: chances.pick(expressions) })
  const variable = () => `${chances.pick(scopes)}.${chances.pick(names)}`
  const text = () =>
    chances.pick([
      'text',
      'stop',
      `{{${chances.pick(templated)}}}`,
      '{{event.preview}} {{temp.x.y}}',
      `${chances.pick(storableTexts).slice(0, 50)}.`,
    ])
  const anything = (depth = 0): unknown =>
    chances.pick<() => unknown>([
      text,
      expression,
      () => 5,
      () => null,
      () => (depth < 2 ? [anything(depth + 1)] : []),
      () => (depth < 2 ? { key: anything(depth + 1), __proto__: null } : {}),
    ])()

  /** A value for a field of a card, by its schema. */
  function valueOf(name: string, schema: FieldSchema): unknown {
    if (name === 'port') return chances.pick(['left', 'right', '__proto__', 'stop'])
    if (name === 'flow') return chances.pick(flows)
    if (name === 'to') return destination()
    if (name === 'seconds' || name === 'delaySeconds') return chances.pick([0, 0.01, 60, expression()])
    if (name === 'action') return chances.pick(['echo', 'fail', 'none', 'tool:echo', '__proto__'])
    if (name === 'event') return 'never'
    if (name === 'code') return chances.pick(codes)
    if (name === 'url')
      return chances.pick(['https://localhost:1/', 'x', 'https://example.com/{{temp.x}}', expression()])
    if (schema.properties?.['$']) return expression()
    if (schema.title === 'a value') return anything()
    if (schema.pattern !== undefined) return variable()
    if (schema.anyOf) return valueOf('', chances.pick(schema.anyOf))
    if (schema.enum) return chances.pick(schema.enum)
    if (schema.type === 'boolean') return is(0.5)
    if (schema.type === 'number' || schema.type === 'integer') {
      return Math.round(chances.between(schema.minimum ?? 0, Math.min(schema.maximum ?? 5, 5)))
    }
    if (schema.type === 'array') {
      const count = 1 + Math.floor(chances.between(0, 3))
      return Array.from({ length: count }, () => valueOf('', schema.items ?? {}))
    }
    if (schema.type === 'object') return objectOf(schema)
    return text()
  }

  function objectOf(schema: FieldSchema): object {
    const { properties = {}, required = [], additionalProperties } = schema
    const fields = Object.keys(properties).filter((name) => required.includes(name) || is(0.4))
    const given = fields.map((name) => [name, name === 'type' ? 'text' : valueOf(name, properties[name]!)] as const)
    if (typeof additionalProperties !== 'object') {
      return Object.fromEntries(required.includes('type') ? [...given, ['text', text()]] : given)
    }
    const key = schema.propertyNames ? variable() : chances.pick(['x', 'fr', '__proto__', 'length'])
    return Object.fromEntries([...given, [key, valueOf('', additionalProperties)]])
  }

  function randomCard(cardId: string): object {
    const type = chances.pick(Object.keys(cards) as CardType[])
    const { required, optional, ports } = cards[type]
    const optionals = Object.entries(optional).filter(() => is(0.5))
    const fields = [...Object.entries(required), ...optionals].map(
      ([name, schema]) => [name, valueOf(name, schema as FieldSchema)] as const,
    )
    const card: Record<string, unknown> = { id: cardId, type, ...Object.fromEntries(fields) }
    const { options, cases } = card as { options?: unknown; cases?: { port: string }[] }
    const own = [
      ...(Array.isArray(options) ? (options as { value: string }[]).map((option) => option.value) : []),
      ...(cases ?? []).map(({ port }) => port),
      ...(ports === 'declared' ? ['left', 'right', '__proto__', 'error'] : ports),
    ]
    return { ...card, ports: Object.fromEntries(own.filter(() => is(0.5)).map((port) => [port, destination()])) }
  }

  return {
    id,
    start: chances.pick(nodes),
    nodes: nodes.map((node) => ({
      id: node,
      cards: some(chances, ids, 4).map(randomCard),
      ...(is(0.8) && { next: destination() }),
    })),
    ...(is(0.4) && { variables: { count: { default: anything() } } }),
    ...(is(0.3) && { onError: destination() }),
    ...(is(0.3) && { timeout: { seconds: chances.pick([0, 1, 60]), to: destination() } }),
    ...(is(0.3) && { always: [{ if: expression(), to: destination() }] }),
    ...(is(0.4) && { triggers: [randomTrigger()] }),
  }

  function randomTrigger(): object {
    const event = chances.pick(['conversation_started', 'message_created', 'handover_started', 'chat:custom'])
    const source = is(0.8) ? { event } : { cron: '0 3 * * *' }
    return { id: 't', ...source, ...(is(0.6) && { filter: expression() }), ...(is(0.4) && { interrupts: is(0.5) }) }
  }
}

/** Up to `most` different items. */
function some<Item>(chances: Chances, items: readonly Item[], most: number): Item[] {
  return chances.shuffle(items).slice(0, Math.floor(chances.between(0, most + 1)))
}
