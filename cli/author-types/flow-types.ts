import { flow, node } from '#shared/flows/flow.ts'
import { describedCards, nameOf, type DescribedCard, type FlowSchema, type Named } from './flow-schemas.ts'
import { comment } from './schema-types.ts'

/** The names of `bot/parts/author.d.ts`. */
const types: Record<Named, string> = {
  expression: 'FlowExpression',
  value: 'FlowValue',
  message: 'FlowMessage',
  code: 'FlowCode',
  destination: 'FlowDestination',
  variable: 'FlowVariable',
}

/** The types of flows in code, where a function takes the place of an expression. */
export function flowTypes(): string[] {
  const { cards: _cards, ...nodeFields } = node.properties
  const { nodes: _nodes, ...flowFields } = flow.properties
  return [
    comment('A flow: a conversation as a graph of nodes. `export const flows: Flow[]` declares those of a bot.') +
      `export interface Flow {\n${fields(flowFields, flow.required)}\nnodes: FlowNode[]\n}`,
    comment('A node of a flow: cards that run in order.') +
      `export interface FlowNode {\n${fields(nodeFields, node.required)}\ncards: FlowCard[]\n}`,
    comment('A card: one step of a node.') +
      `export type FlowCard = ${describedCards.map(({ type }) => nameOfCard(type)).join(' | ')}`,
    ...describedCards.map(cardType),
  ]
}

function cardType({ type, description, required, optional, ports, hasOwnPorts }: DescribedCard): string {
  const isOpen = ports === 'declared' || hasOwnPorts
  const names = isOpen ? 'string' : ports.map(quote).join(' | ')
  const ways = `${comment('Where the flow continues, by port.')}ports?: { [Port in ${names}]?: FlowDestination }\n`
  return (
    comment(description) +
    `export interface ${nameOfCard(type)} {\nid: string\ntype: ${quote(type)}\n` +
    `${fields({ ...required, ...optional }, Object.keys(required))}\n${names === '' ? '' : ways}}`
  )
}

function nameOfCard(type: string): string {
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}Card`
}

function fields(properties: Record<string, FlowSchema>, required: readonly string[]): string {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const optional = required.includes(name) ? '' : '?'
      return `${comment(schema.description)}${name}${optional}: ${typeOf(schema)}`
    })
    .join('\n')
}

function typeOf(schema: FlowSchema): string {
  const name = nameOf(schema)
  if (name !== undefined) return types[name]
  const { type, enum: choice, anyOf, items, properties, required = [], additionalProperties, propertyNames } = schema
  if (anyOf) return anyOf.map(typeOf).join(' | ')
  if (choice) return choice.map(quote).join(' | ')
  if (type === 'array') return `Array<${items ? typeOf(items) : 'unknown'}>`
  if (type === 'object') {
    if (properties) return `{\n${fields(properties, required)}\n}`
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'FlowValue'
    const key = propertyNames && nameOf(propertyNames) === 'variable' ? types.variable : 'string'
    return `{ [Name in ${key}]: ${value} }`
  }
  return type === 'integer' ? 'number' : (type ?? 'any')
}

function quote(value: unknown): string {
  return JSON.stringify(value)
}
