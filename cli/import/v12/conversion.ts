import type { Card, FlowNode } from '#shared/flows/flow.ts'
import type { Script, V12Bot } from './bots.ts'
import { Ids } from './ids.ts'
import type { V12Flow } from './v12-flow.ts'

/** The conversion of a bot: ids of its flows and nodes, and what other parts of the project need. */
export interface Conversion {
  bot: V12Bot
  /** Ids of flows by name. Skills that are folded into a card have none. */
  flowIds: Map<string, string>
  /** Ids of nodes by flow and name. */
  nodeIds: Map<string, Map<string, string>>
  /** Flows that are called, because they return to their caller. */
  returning: Set<string>
  /** Where flows that were called continue instead of a return. */
  unwinds: Set<string>
  /** Names of nodes, by the flow that returns, at which its callers continue. */
  returnTargets: Set<string>
  /** The flow `end` runs at the end of a conversation. */
  hasEnd: boolean
  /** Scripts of hooks that run at its beginning. */
  endings: readonly Script[]
  /** Ids of actions by name. */
  actionIds: Map<string, string>
  /** Names of actions that cannot run here. */
  brokenActions: ReadonlySet<string>
  /** Hosts that `http` cards request. */
  hosts: Set<string>
  /** How long cards wait for an answer, where the bot says so. */
  seconds: number | undefined
}

/** A flow in the making. */
export class FlowBuilder {
  readonly nodes: FlowNode[] = []
  readonly ids: Ids
  readonly source: V12Flow
  readonly id: string
  /** Nodes that several others need, by purpose. */
  readonly #shared = new Map<string, string>()

  constructor(id: string, source: V12Flow, ids: Ids) {
    this.id = id
    this.source = source
    this.ids = ids
  }

  add(node: FlowNode): string {
    this.nodes.push(node)
    return node.id
  }

  /** A node that is made once. */
  share(purpose: string, name: string, make: (id: string) => FlowNode): string {
    const known = this.#shared.get(purpose)
    if (known !== undefined) return known
    const id = this.ids.make(name)
    this.#shared.set(purpose, id)
    this.add(make(id))
    return id
  }
}

/** Numbers the cards of a node. */
export function toNode(id: string, name: string | undefined, cards: NewCard[], next: string | null): FlowNode {
  const numbered = cards.map((card, index): Card => ({ id: `${card.type}_${index + 1}`, ...card }))
  return {
    id,
    ...(name !== undefined && { name: name.slice(0, 200) }),
    cards: numbered,
    ...(next !== null && { next }),
  }
}

export interface NewCard {
  type: string
  ports?: Record<string, string | null>
  [field: string]: unknown
}

/** The variable by which a called flow says how it has ended. */
export const returnVariable = 'temp.v12_return'

/** The id of a node of the original. */
export function nodeIdOf({ nodeIds }: Conversion, flow: string, node: string): string | undefined {
  return nodeIds.get(flow)?.get(node)
}
