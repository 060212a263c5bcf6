import { readDestination } from '../../../shared/flows/destinations.ts'
import type { Card, Flow } from '../../../shared/flows/flow.ts'

/** A way from a card, or from the end of a node, to a destination. */
export interface Port {
  /** Empty for the destination after the last card. */
  name: string
  target: Target
}

/** Where a port leads. */
export type Target = { kind: 'node'; node: string } | { kind: 'flow'; flow: string; node?: string } | { kind: 'end' }

/** The ways out of a card that its definition names. */
export function portsOf(card: Card): Port[] {
  const ports = Object.entries(card.ports ?? {}).map(([name, to]) => ({ name, target: targetOf(to) }))
  if (card.type === 'jump') ports.push({ name: 'to', target: targetOf(card['to'] as string | null) })
  if (card.type === 'call') ports.push({ name: 'calls', target: { kind: 'flow', flow: String(card['flow']) } })
  if (card.type === 'end') ports.push({ name: 'ends', target: { kind: 'end' } })
  return ports
}

/** Where a node leads after its last card. */
export function nextOf(node: Flow['nodes'][number]): Port | undefined {
  const last = node.cards.at(-1)
  if (last && leavesAlways(last)) return undefined
  return { name: '', target: targetOf(node.next ?? null) }
}

/** Whether a card never continues with what follows it: all of its ports lead somewhere. */
function leavesAlways(card: Card): boolean {
  const { type, ports = {}, cancel } = card
  const leads = (...names: unknown[]) => names.every((name) => Object.hasOwn(ports, String(name)))
  if (type === 'jump' || type === 'end') return true
  if (type === 'condition') return leads('true', 'false')
  if (type === 'router' || type === 'aiRouter') return leads('else', ...(namesIn(card['cases'], 'port') ?? []))
  const options = type === 'choice' ? namesIn(card['options'], 'value') : undefined
  return options !== undefined && leads('other', ...options, ...(cancel === undefined ? [] : ['cancel']))
}

function namesIn(list: unknown, field: string): unknown[] | undefined {
  return Array.isArray(list) ? list.map((item: Record<string, unknown>) => item[field]) : undefined
}

/** The ways of the whole flow, with the reason for each. */
export function routesOf({ always = [], onError, timeout }: Flow): Port[] {
  return [
    ...always.map((route, index) => ({ name: `always ${index + 1}`, target: targetOf(route.to) })),
    ...(onError === undefined ? [] : [{ name: 'after an error', target: targetOf(onError) }]),
    ...(timeout?.to === undefined ? [] : [{ name: 'after a timeout', target: targetOf(timeout.to) }]),
  ]
}

function targetOf(to: string | null): Target {
  if (to === null) return { kind: 'end' }
  const { flow, node } = readDestination(to)
  if (flow !== undefined) return { kind: 'flow', flow, ...(node !== undefined && { node }) }
  return { kind: 'node', node: node! }
}

export function nameOf(target: Target): string {
  if (target.kind === 'end') return 'end'
  return target.kind === 'node' ? target.node : `${target.flow}/${target.node ?? ''}`
}

export const nodeWidth = 232
export const headHeight = 38
export const cardHeight = 26
export const portHeight = 20
export const exitHeight = 28
export const exitWidth = 132
/** Upper bound of the cards that a box shows. */
export const maxShownCards = 12

/** A line of a node's box: a card, one of its ports, or the number of the cards that are left out. */
export type Row = { kind: 'card'; card: Card } | { kind: 'port'; name: string } | { kind: 'rest'; cards: number }

export interface Box {
  id: string
  width: number
  height: number
  rows: Row[]
  /** For the end of the flow or another flow: where it leads. */
  exit?: Target
}

export interface Edge {
  from: string
  to: string
  /** The card of the port; absent after the last card of the node. */
  card?: string
  /** The distance of the port from the top of the box. */
  offset: number
}

export interface Graph {
  boxes: Box[]
  edges: Edge[]
}

/** The picture of a flow before it is laid out. Ways out of the flow lead to boxes of their own beside their node. */
export function toGraph(flow: Flow): Graph {
  const boxes: Box[] = []
  const exits = new Map<string, Box>()
  const edges: Edge[] = []
  const known = new Set(flow.nodes.map(({ id }) => id))
  for (const node of flow.nodes) {
    const rows: Row[] = []
    let height = headHeight
    const connect = ({ target }: Port, offset: number, card?: string) => {
      if (target.kind === 'node' && !known.has(target.node)) return
      const to = target.kind === 'node' ? target.node : `${node.id} > ${nameOf(target)}`
      if (target.kind !== 'node' && !exits.has(to)) {
        exits.set(to, { id: to, width: exitWidth, height: exitHeight, rows: [], exit: target })
      }
      edges.push({ from: node.id, to, offset, ...(card !== undefined && { card }) })
    }
    const next = nextOf(node)
    if (next) connect(next, headHeight / 2)
    const left = node.cards.length - maxShownCards
    for (const [index, card] of node.cards.entries()) {
      const isShown = index < maxShownCards
      if (isShown) {
        rows.push({ kind: 'card', card })
        height += cardHeight
      }
      for (const port of portsOf(card)) {
        connect(port, isShown ? height + portHeight / 2 : height, card.id)
        if (!isShown) continue
        rows.push({ kind: 'port', name: port.name })
        height += portHeight
      }
    }
    if (left > 0) rows.push({ kind: 'rest', cards: left })
    boxes.push({ id: node.id, width: nodeWidth, height: height + (left > 0 ? cardHeight : 0) + 8, rows })
  }
  return { boxes: [...boxes, ...exits.values()], edges }
}
