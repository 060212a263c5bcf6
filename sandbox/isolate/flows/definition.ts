import {
  apply,
  create,
  hasOwn,
  isArray,
  isObject,
  NativeTypeError,
  NativeWeakMap,
  weakMapGet,
  weakMapSet,
} from '../primordials.ts'

/** Flows as the isolate has them: the uploaded form, with functions in the place of expressions. */
export interface Flow {
  id: string
  start: string
  nodes: ArrayLike<FlowNode | LazyNode>
  variables?: Record<string, { default?: unknown }>
  onError?: string | null
  timeout?: { seconds: number; to?: string | null }
  always?: ArrayLike<{ if: unknown; to: string | null }>
  triggers?: ArrayLike<{ id: string; filter?: unknown; interrupts?: boolean }>
}

export interface FlowNode {
  id: string
  cards: ArrayLike<Card>
  next?: string | null
}

/** A node of uploaded flows, until a conversation comes there. */
interface LazyNode {
  id: string
  make: () => FlowNode
}

export interface Card {
  id: string
  type: string
  ports?: Record<string, string | null>
  [field: string]: unknown
}

/** The flows of a bot, by id. */
export type Flows = Record<string, Flow>

/**
 * Indexes the flows of a bundle.
 *
 * @param uploaded the flows that were uploaded beside the code
 * @param exported the export `flows`
 * @returns undefined when the bundle has none
 */
export function indexFlows(uploaded: unknown, exported: unknown): Flows | undefined {
  if (uploaded !== undefined && exported !== undefined) {
    throw new NativeTypeError(
      'A bot has its flows in its code or beside it, not both: exports.flows and flows are there',
    )
  }
  const list = uploaded ?? exported
  if (list === undefined) return undefined
  if (!isArray(list)) throw new NativeTypeError('exports.flows must be a list')
  const flows = create(null) as Flows
  for (let index = 0; index < list.length; index += 1) {
    const flow: unknown = list[index]
    if (isObject(flow) && typeof flow['id'] === 'string') flows[flow['id']] = flow as unknown as Flow
  }
  return flows
}

/** The nodes of flows by id, once one was asked for. */
const nodesOf = new NativeWeakMap<Flow, Record<string, FlowNode | LazyNode>>()

export function nodeOf(flow: Flow, id: string): FlowNode | undefined {
  const nodes = weakMapGet(nodesOf, flow) ?? indexNodes(flow)
  const node = nodes[id]
  if (node === undefined || !isLazy(node)) return node
  return (nodes[id] = apply(node.make, undefined, []))
}

function isLazy(node: FlowNode | LazyNode): node is LazyNode {
  return hasOwn(node, 'make')
}

function indexNodes(flow: Flow): Record<string, FlowNode | LazyNode> {
  const nodes = create(null) as Record<string, FlowNode | LazyNode>
  for (let index = 0; index < flow.nodes.length; index += 1) nodes[flow.nodes[index]!.id] = flow.nodes[index]!
  weakMapSet(nodesOf, flow, nodes)
  return nodes
}

/** @returns -1 when the node has no such card */
export function indexOfCard(node: FlowNode, id: string): number {
  for (let index = 0; index < node.cards.length; index += 1) if (node.cards[index]!.id === id) return index
  return -1
}

/** The destination of a port: undefined when the card has none for it. */
export function portOf(card: Card, port: string): string | null | undefined {
  const { ports } = card
  return ports !== undefined && hasOwn(ports, port) ? ports[port] : undefined
}
